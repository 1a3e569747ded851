"""What can be wrong with how a page looks, found in the page itself by where the browser has put things."""

import struct
import zlib

# Words, down to the parts between which a name may be broken, that do not stand in one line.
BROKEN_WORDS = """(() => {
  const broken = [], walker = document.createTreeWalker(document.querySelector('body'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('script, style, svg, .hash')) continue;
    for (const word of node.textContent.matchAll(/\\w+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
})()"""

# Of each drawing: labels that lie on each other, that lie on a line of its grid, and that its edge cuts.
BAD_LABELS = """(() => {
  const bad = [], inset = 1;
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect(), labels = [];
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      const label = {words: text.textContent, left: box.left + inset, right: box.right - inset, top: box.top + inset + 1, bottom: box.bottom - inset - 1};
      if (label.left < frame.left - 1 || label.right > frame.right + 1 || label.top < frame.top - 2 || label.bottom > frame.bottom + 2)
        bad.push(`cut: ${label.words}`);
      for (const other of labels)
        if (label.left < other.right && other.left < label.right && label.top < other.bottom && other.top < label.bottom)
          bad.push(`${label.words} on ${other.words}`);
      labels.push(label);
      if (text.matches('.halo, .on, .on-light')) continue;  // these cover what is below them
      for (const line of svg.querySelectorAll('line')) {
        const at = line.getBoundingClientRect();
        if (label.left < at.right + .5 && at.left - .5 < label.right && label.top < at.bottom + .5 && at.top - .5 < label.bottom &&
            text.compareDocumentPosition(line) & Node.DOCUMENT_POSITION_PRECEDING)
          bad.push(`${label.words} on a line`);
      }
    }
  }
  return bad;
})()"""

# Names of colours, as the drawing has them and its legend.
TREEMAP_COLOURS = """(() => {
  const of = nodes => [...new Set([...nodes].map(node => node.getAttribute('fill') || node.style.background))].sort();
  return [of(document.querySelectorAll('#treemap g > rect:first-child')).filter(colour => !/panel|paper/.test(colour)),
          of(document.querySelectorAll('#treemap-legend .key'))];
})()"""

# Of each label on a colour: what it says, its colour, and that below it.
LABELS_ON_COLOURS = """[...document.querySelectorAll('svg text')].filter(text => text.parentNode.firstChild.tagName === 'rect' &&
    !text.classList.contains('halo')).map(text => [text.textContent, getComputedStyle(text).fill,
    getComputedStyle(text.parentNode.firstChild).fill])"""


def first_pixel(picture):
    """Red, green, blue of the first pixel of a PNG, and its width: no filter changes that one."""
    data = picture.read_bytes()
    width, _, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6)), (depth, kind)
    rows, at = b"", 8
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            rows += data[at + 8:at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(rows)[1:4]), width
