/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the stand-in for a Windows DC by hand; see tests/lib/windows/standin.h. */
#include <getopt.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/windows/standin.h"

static const char usage[] =
    "usage: windows-standin [--rule NAME[=NUMBER]]... --listen ADDRESS --dc ADDRESS\n"
    "       windows-standin --list\n\n"
    "A proxy in front of a lab's DC that applies rules of a patched Windows Server 2025. It runs\n"
    "until SIGTERM or SIGINT and prints how often each rule applied.\n\n"
    "  --rule NAME[=NUMBER]  switch a rule on; can be repeated\n"
    "  --listen ADDRESS      own address, on the ports of a DC\n"
    "  --dc ADDRESS          the lab's DC\n"
    "  --list                print the rules\n\n"
    "The environment contains TRAFFIC_REPLAY_PASSWORD (the administrator's),\n"
    "TRAFFIC_REPLAY_FIXED_PASSWORD (of the test accounts, as for traffic-replay -F), and\n"
    "KRB5_KTNAME (a keytab of the DC, for Kerberos).\n";

static struct standin standin;

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "windows-standin: %s%s\n", what, value);
    return 2;
}

static bool parse_address(const char *text, struct sockaddr_storage *out)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(text, NULL, &hints, &found) != 0)
        return false;
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

/* 0, -1 after --list, or an exit status. */
static int read_options(int argc, char **argv)
{
    static const struct option options[] = {{"rule", 1, NULL, 'r'}, {"listen", 1, NULL, 'l'},
                                            {"dc", 1, NULL, 'd'},   {"list", 0, NULL, 'L'},
                                            {"help", 0, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 'r' && !windows_rules_switch(&standin.rules, optarg))
            return complain("no such rule, or a wrong number; see --list: ", optarg);
        if ((option == 'l' && !parse_address(optarg, &standin.listen)) ||
            (option == 'd' && !parse_address(optarg, &standin.dc)))
            return complain("not an address: ", optarg);
        if (option == 'L')
            windows_rules_print(stdout);
        if (option == 'h')
            fputs(usage, stdout);
        if (option == 'L' || option == 'h')
            return -1;
        if (option == '?')
            return 2;
    }
    if (optind < argc || !standin.listen.ss_family || !standin.dc.ss_family)
        return complain("--listen and --dc are required; see --help", "");
    return 0;
}

int main(int argc, char **argv)
{
    sigset_t end;
    int received, rc = read_options(argc, argv);
    if (rc)
        return rc < 0 ? 0 : rc;
    const char *admin = getenv("TRAFFIC_REPLAY_PASSWORD");
    const char *fixed = getenv("TRAFFIC_REPLAY_FIXED_PASSWORD");
    if (!admin)
        return complain("TRAFFIC_REPLAY_PASSWORD is not set", "");
    standin.passwords[0] = admin;
    standin.passwords[1] = fixed ? fixed : admin;
    setenv("KRB5RCACHENAME", "none:", 1);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (standin_certificate_make(&standin) != 0)
        return complain("cannot make a certificate", "");
    rc = standin_run(&standin);
    if (rc)
        return complain("cannot listen: ", strerror(-rc));
    printf("ready\n");
    fflush(stdout);
    sigwait(&end, &received);
    windows_rules_report(&standin.rules, stdout);
    return 0;
}
