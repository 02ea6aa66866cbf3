/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a page as it is laid out: text that is clipped or overlaps other text, a page wider than
 * its window, links that lead nowhere. Leaves what is wrong in the document's only <pre id="wrong">. */
addEventListener("load", function () {
    const wrong = [];
    const say = (text) => wrong.push(text);
    const box = (element) => element.getBoundingClientRect();
    const name = (element) => JSON.stringify(element.textContent.slice(0, 40));
    if (document.documentElement.scrollWidth > innerWidth)
        say("the page is wider than its window: " + document.documentElement.scrollWidth + " of " + innerWidth);
    const pictures = document.querySelectorAll("svg");
    if (pictures.length === 0)
        say("no picture");
    for (const picture of pictures) {
        const frame = box(picture), texts = [...picture.querySelectorAll("text")].filter((text) => text.textContent);
        if (frame.width < 300)
            say("a picture is only " + frame.width + " wide");
        if (texts.length && parseFloat(getComputedStyle(texts[0]).fontSize) * frame.width / picture.viewBox.baseVal.width < 11)
            say("text of a picture is too small");
        for (const text of texts) {
            const place = box(text);
            if (place.left < frame.left - 1 || place.right > frame.right + 1 || place.top < frame.top - 1 ||
                place.bottom > frame.bottom + 1)
                say("clipped: " + name(text));
        }
        for (let i = 0; i < texts.length; i++)
            for (let j = i + 1; j < texts.length; j++) {
                const a = box(texts[i]), b = box(texts[j]);
                if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                    say("overlap: " + name(texts[i]) + " and " + name(texts[j]));
            }
    }
    for (const link of document.querySelectorAll("a")) {
        const target = (link.getAttribute("href") || "").slice(1);
        if (!document.getElementById(target))
            say("a link leads nowhere: " + target);
    }
    const list = document.createElement("pre");
    list.id = "wrong";
    list.textContent = wrong.slice(0, 20).join("\n") + "\nmeasured\n";
    document.body.appendChild(list);
});
