// Draws the page from the constant in #data, which `dsbuild page --json` prints too. Names go in as text, never as markup.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const tip = document.getElementById('tip');
const find = selector => document.querySelector(selector);

// ---- text

const bytesText = bytes => {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0, value = bytes;
  while (value >= 1024 && unit < 3) { value /= 1024; ++unit; }
  return unit ? `${value.toFixed(1)} ${units[unit]}` : `${bytes} B`;
};
const timeText = ms => {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};
const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
const share = (part, all) => all > 0 ? `${Math.round(100 * part / all)} %` : '0 %';
const RESULTS = {made: 'made', partly: 'made in part: its images were there', cache: 'from the cache',
  shared: 'from the shared cache', same: 'the same text as before', fresh: 'up to date',
  elsewhere: 'made on other machines', failed: 'failed', unknown: 'not known'};

// How wide a drawing's text is, in pixels.
const pen = document.createElement('canvas').getContext('2d');
pen.font = '11px system-ui, sans-serif';
const widthOf = text => pen.measureText(text).width;
const cut = (text, width) => {
  if (widthOf(text) <= width) return text;
  let length = text.length;
  while (length && widthOf(`${text.slice(0, length)}…`) > width) --length;
  return length > 1 ? `${text.slice(0, length)}…` : '';
};
// Names are long and have no blanks: they may be broken where their parts end.
const named = text => text.length <= 16 ? [text] : text.split(/(?<=[\/,<([]|::|[A-Za-z0-9][_-])(?=[^\s])/)
  .flatMap((part, place) => place ? [document.createElement('wbr'), part] : [part]);

// The class of text on a colour, so that it can be read.
const LIGHT_COLOURS = ['partly', 'cache', 'jobs', 'memory', 'failed', 'fresh', 'unknown'];
const textOn = colour => colour === 'host' ? '' : LIGHT_COLOURS.includes(colour) ? 'on-light' : 'on';

// ---- elements

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const shape = (parent, name, attributes = {}, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
};
const table = (head, rows, attributes = {}) => {
  const cell = (name, value) => {
    if (value instanceof Node) return element(name, {}, value);
    const isNumber = value !== null && typeof value === 'object' && 'text' in value;
    return isNumber ? element(name, {class: 'number', 'data-value': value.value}, value.text)
                    : element(name, {class: /^[0-9a-f]{40,}$/.test(value) ? 'name hash' : String(value).length > 16 ? 'name long' : 'name'},
                              ...named(String(value)));
  };
  const made = element('table', attributes, element('thead', {}, element('tr', {}, ...head.map(title => element('th',
    {scope: 'col', ...(title.endsWith('\u200b') ? {class: 'number'} : {})}, title)))));
  const body = element('tbody');
  for (const row of rows) body.append(element('tr', {}, ...row.map(value => cell('td', value))));
  made.append(body);
  return made;
};
const NUMBER = '\u200b';  // ends the title of a column of numbers
const number = (value, text) => ({value, text});
const legend = (parent, entries) => {
  for (const [colour, words] of entries) {
    const key = element('span', {class: 'key'});
    key.style.background = `var(--${colour})`;
    const [first, ...others] = words.split(' ');
    parent.append(element('span', {class: 'entry'}, element('span', {class: 'whole'}, key, first), ['', ...others].join(' ')), ' ');
  }
};

// ---- what is said of the thing that the pointer, or the keyboard, is at

const say = text => { tip.textContent = text; tip.hidden = !text; };
const tell = (node, text, focused = () => {}, left = () => {}) => {
  const enter = () => { say(typeof text === 'function' ? text() : text); focused(); };
  const leave = () => { say(''); left(); };
  node.addEventListener('pointerenter', enter);
  node.addEventListener('focus', enter);
  node.addEventListener('click', enter);
  node.addEventListener('pointerleave', leave);
  node.addEventListener('blur', leave);
};
document.addEventListener('keydown', event => { if (event.key === 'Escape') say(''); });
// One of many things in a drawing is a stop of the Tab key; the arrows go on from there.
const walk = nodes => {
  nodes.forEach((node, place) => {
    node.setAttribute('tabindex', place ? -1 : 0);
    node.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      const next = event.key === 'Home' ? nodes[0] : event.key === 'End' ? nodes.at(-1) : step && nodes[place + step];
      if (!next) return;
      event.preventDefault();
      node.setAttribute('tabindex', -1);
      next.setAttribute('tabindex', 0);
      next.focus();
    });
  });
};

// ---- the edges of the build

const timings = data.timings;
const edges = timings ? timings.edges.rows.map((row, place) => {
  const edge = {place};
  timings.edges.columns.forEach((name, column) => { edge[name] = row[column]; });
  for (const name of ['op', 'source', 'part', 'kind', 'result', 'remote_miss']) edge[name] = timings.strings[edge[name]];
  [edge.waited, edge.waitedForCore] = [edge.waits, edge.core_waits].map(waits => waits.reduce((sum, [from, to]) => sum + to - from, 0));
  edge.worked = edge.end - edge.begin - edge.waited - edge.waitedForCore;
  edge.compiles = ['cuda_compile', 'cuda_slice', 'cxx_compile'].includes(edge.kind);
  edge.label = edge.compiles ? edge.op + (edge.source ? `: ${edge.source}` : '') + (edge.part ? ` [${edge.part}]` : '')
                             : `${edge.kind} ${edge.op}` + (edge.source ? `: ${edge.source}` : '');
  return edge;
}) : [];
const chain = new Set(timings ? timings.analysis.chain : []);
const edgeText = edge => [edge.label, `${timeText(edge.worked)} of work, ${RESULTS[edge.result]}`,
  `began at ${timeText(edge.begin)}, ended at ${timeText(edge.end)}`,
  edge.remote_miss ? `shared cache: ${edge.remote_miss}` : '',
  edge.begin > edge.ready ? `ready ${timeText(edge.begin - edge.ready)} before it began: no slot was free` : '',
  edge.waited ? `waited ${timeText(edge.waited)} for memory` : '',
  edge.waitedForCore ? `waited ${timeText(edge.waitedForCore)} for a core` : '',
  edge.peak_bytes ? `${bytesText(edge.peak_bytes)} of memory` : '',
  edge.needs.length ? `needs ${edge.needs.slice(0, 4).map(i => edges[i].label).join(', ')}` +
                      (edge.needs.length > 4 ? ` and ${edge.needs.length - 4} others` : '') : '',
  chain.has(edge.place) ? 'on the critical path' : ''].filter(Boolean).join('\n');

// ---- in short

const BOUNDS = {chain: 'the critical path: more cores would not help', cores: 'the number of cores',
  jobs: '--jobs, which is less than the cores', memory: '--memory'};
function drawShort() {
  const cards = find('#short .cards');
  const card = (id, title, strong, more, values = {}) => {
    const body = element('dd', {id, ...values}, element('strong', {}, ...named(strong)));
    if (more) body.append(element('br'), ...named(more));
    cards.append(element('div', {}, element('dt', {}, title), body));
  };
  const {slowest, bound, biggest_kernel: kernel} = data.answers;
  if (timings) {
    card('answer-total', timings.succeeded ? 'The build took' : 'The build failed after', timeText(timings.total_ms),
         `began ${timings.began}`, {'data-value': timings.total_ms});
    card('answer-bound', 'What bounds it', bound.by === 'chain' ? 'the critical path' : bound.by,
         `${BOUNDS[bound.by]}. Critical path ${timeText(bound.chain_ms)}, all work ${timeText(bound.work_ms)}, ` +
         `edges ran for ${timeText(bound.graph_ms)} on ${count(timings.cores, 'core')}`,
         {'data-by': bound.by, 'data-chain': bound.chain_ms});
  }
  if (slowest)
    card('answer-slowest', 'Slowest file × arch', timeText(slowest.worked_ms),
         `${slowest.source} [${slowest.part}] of ${slowest.op}`,
         {'data-source': slowest.source, 'data-part': slowest.part, 'data-value': slowest.worked_ms});
  if (kernel)
    card('answer-kernel', 'Biggest kernel', bytesText(kernel.bytes), `${kernel.name}, ${kernel.arch} in ${kernel.op}`,
         {'data-name': kernel.name, 'data-arch': kernel.arch, 'data-op': kernel.op, 'data-value': kernel.bytes});
  const built = data.ops.filter(op => op.library);
  card('answer-bytes', 'Size', bytesText(data.bytes),
       `${count(built.length, 'library').replace('librarys', 'libraries')}; ${share(data.bytes, data.limits.pypi_bytes)} of PyPI's limit`,
       {'data-value': data.bytes});
  if (timings) {
    const results = timings.analysis.results;
    const words = Object.entries(results).filter(([, n]) => n).map(([result, n]) => `${n} ${RESULTS[result]}`);
    card('answer-results', 'Edges', `${results.cache + results.shared} of ${edges.length} from the cache`, words.join(', '),
         Object.fromEntries(Object.entries(results).map(([result, n]) => [`data-${result}`, n])));
  }
}

// ---- ops × archs

const archName = arch => arch.text.replace(/^(.*)-virtual$/, 'PTX $1');
function cells(section, columns, row) {
  const made = element('table', {class: 'cells'}, element('thead', {}, element('tr', {}, element('th', {class: 'name', scope: 'col'}, 'op'),
    ...columns.map(title => element('th', {scope: 'col'}, ...[title].flat())))));
  const body = element('tbody');
  for (const op of data.ops) {
    const line = element('tr', {}, element('th', {class: 'name', scope: 'row'}, op.name));
    for (const [kind, sign, words] of row(op)) {
      if (!kind) { line.append(element('td', {}, sign)); continue; }
      const button = element('button', {type: 'button', class: kind, 'aria-label': words, 'data-kind': kind}, sign);
      tell(button, words);
      line.append(element('td', {}, button));
    }
    body.append(line);
  }
  made.append(body);
  find(`${section} .wide`).append(made);
}
function drawMatrix() {
  legend(find('#matrix .legend'), [['made', 'S shared by all CUDA ops'], ['cache', '+ extra, for this op alone'],
                                   ['failed', '× requested and dropped']]);
  const why = data.ops.some(op => !op.built) ? ['why not built'] : [];
  cells('#matrix', data.archs.map(archName).concat(why), op => {
    if (!op.built) return data.archs.map(() => ['', '']).concat([['', op.reason || 'not built']]);
    return data.archs.map(arch => {
      const dropped = op.dropped.find(drop => drop.arch === arch.text);
      if (dropped) return ['dropped', '×', `${op.name} has no ${arch.name}` +
        (dropped.reason ? `: dropped by ${dropped.by}: ${dropped.reason}` : ', which was requested')];
      if (!op.archs.includes(arch.text)) return ['', op.archs.length ? '' : '–'];
      return op.extra.includes(arch.text) ? ['extra', '+', `${op.name}: ${arch.name}, extra: not all CUDA ops have it`]
                                          : ['shared', 'S', `${op.name}: ${arch.name}, shared by all CUDA ops`];
    }).concat(why.map(() => ['', '']));
  });
}
// The GPUs that most is for stand first.
const HOW_WELL = ['native', 'generic', 'ptx', 'spirv', 'none'];
const gpuRank = place => {
  const ways = data.ops.map(op => op.gpus[place]).filter(Boolean).map(coverage => HOW_WELL.indexOf(coverage.runs));
  return ways.length ? Math.min(...ways) : HOW_WELL.length;
};
const gpuText = place => [`a GPU of ${data.gpus[place]}`, data.gpu_names[place].join(', ')].filter(Boolean).join(', as ');
function drawGpus() {
  const order = data.gpus.map((_, place) => place).sort((a, b) => gpuRank(a) - gpuRank(b) || a - b);
  legend(find('#gpus .legend'), [['made', 'N native machine code'], ['cache', 'P PTX, which the driver compiles'],
                                 ['failed', '× will not run']]);
  const head = place => [data.gpus[place], element('small', {}, data.gpu_names[place][0] || '')];
  const signs = {native: 'N', generic: 'G', ptx: 'P', spirv: 'S', none: '×'};
  cells('#gpus', order.map(head), op => order.map(place => {
    const coverage = op.gpus[place];
    if (!coverage) return ['', '–'];
    const how = {native: 'runs natively', generic: 'runs by generic code', ptx: 'runs by PTX', spirv: 'runs by SPIR-V', none: 'will not run'}[coverage.runs];
    return [coverage.runs, signs[coverage.runs], `${op.name} on ${gpuText(place)}: ${how}` + (coverage.by ? ` (${coverage.by})` : '')];
  }));
}

// ---- sizes

// Squarified (Bruls, Huizing, van Wijk 2000): rows along the shorter side, each as long as its worst ratio gets better.
function squares(items, x, y, width, height) {
  const placed = [];
  const total = items.reduce((sum, item) => sum + item.size, 0);
  if (total <= 0 || width <= 0 || height <= 0) return placed;
  const scale = width * height / total;
  const worst = (row, sum, side) => {
    const areas = row.map(item => item.size * scale), area = sum * scale;
    return Math.max(side * side * Math.max(...areas) / (area * area), area * area / (side * side * Math.min(...areas)));
  };
  let row = [], sum = 0;
  const place = () => {
    const across = width >= height, side = across ? height : width, depth = sum * scale / side;
    let at = 0;
    for (const item of row) {
      const length = item.size * scale / depth;
      placed.push(across ? {item, x, y: y + at, width: depth, height: length} : {item, x: x + at, y, width: length, height: depth});
      at += length;
    }
    if (across) { x += depth; width -= depth; } else { y += depth; height -= depth; }
    row = []; sum = 0;
  };
  for (const item of items.filter(item => item.size > 0).sort((a, b) => b.size - a.size)) {
    const side = Math.min(width, height);
    if (row.length && worst([...row, item], sum + item.size, side) > worst(row, sum, side)) place();
    row.push(item);
    sum += item.size;
  }
  if (row.length) place();
  return placed;
}
const IMAGE_COLOURS = ['made', 'cache', 'jobs', 'memory', 'partly', 'same', 'failed'];
const imageColour = name => IMAGE_COLOURS[Math.max(data.archs.findIndex(arch => arch.name === name), 0) % IMAGE_COLOURS.length];
const sizeTree = () => data.ops.filter(op => op.library).map(op => ({
  label: op.name, size: op.library.bytes, text: `${op.name}: ${bytesText(op.library.bytes)}`,
  parts: op.library.images.map(image => ({
    label: image.name, size: image.bytes, colour: imageColour(image.name),
    text: `${op.name}, ${image.name}: ${bytesText(image.bytes)} in ${count(image.count, 'image')}`,
    parts: image.kernels.map(([name, size]) => ({label: data.names[name], size,
      text: `${data.names[name]}\n${bytesText(size)} of machine code, ${image.name} in ${op.name}`}))
      .concat(image.other_kernels ? [{label: '', size: image.other_bytes,
        text: `${count(image.other_kernels, 'smaller kernel')} together: ${bytesText(image.other_bytes)}`}] : []),
  })).concat([{label: 'host code', size: op.library.host_bytes, colour: 'host', parts: [],
               text: `${op.name}, host code: ${bytesText(op.library.host_bytes)}`}]),
}));
function drawTreemap(parent) {
  const width = Math.max(Math.round(parent.clientWidth), 280), height = width > 700 ? 420 : 460, stops = [];
  const svg = shape(parent, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'group',
    'aria-label': 'Treemap of sizes: op, arch, kernel. Arrows go through it; the table below has the numbers.'});
  const write = (group, box, text, colour) => {
    const shown = box.height < 14 ? '' : cut(text, box.width - 6);
    if (shown) shape(group, 'text', {x: box.x + 3, y: box.y + 11, class: colour}, shown);
  };
  for (const op of squares(sizeTree(), 0, 0, width, height)) {
    const group = shape(svg, 'g', {'aria-label': op.item.text, role: 'img'});
    stops.push(group);
    shape(group, 'rect', {x: op.x, y: op.y, width: op.width, height: op.height, fill: 'var(--panel)', stroke: 'var(--paper)', 'stroke-width': 3});
    write(group, op, `${op.item.label} ${bytesText(op.item.size)}`, '');
    const head = op.height > 40 ? 15 : 0;
    for (const arch of squares(op.item.parts, op.x + 2, op.y + head + 2, op.width - 4, op.height - head - 4)) {
      const inner = shape(svg, 'g', {'aria-label': arch.item.text, role: 'img'});
      stops.push(inner);
      shape(inner, 'rect', {x: arch.x, y: arch.y, width: arch.width, height: arch.height, fill: `var(--${arch.item.colour})`, stroke: 'var(--paper)'});
      tell(inner, arch.item.text);
      const top = arch.height > 30 && arch.width > 40 ? 14 : 0;
      if (arch.width * arch.height > 500)
        for (const kernel of squares(arch.item.parts, arch.x + 1, arch.y + top, arch.width - 2, arch.height - top - 1)) {
          if (kernel.width < 1.5 || kernel.height < 1.5) continue;
          const box = shape(inner, 'rect', {x: kernel.x, y: kernel.y, width: kernel.width, height: kernel.height,
            fill: 'var(--paper)', 'fill-opacity': .14, stroke: 'var(--paper)', 'stroke-width': .6});
          tell(box, kernel.item.text);
          if (kernel.width > 60) write(inner, kernel, kernel.item.label, textOn(arch.item.colour));
        }
      write(inner, arch, arch.item.label, textOn(arch.item.colour));
    }
    tell(group, op.item.text);
  }
  walk(stops);
}
function limitRow(name, bytes, limit, what) {
  const bar = element('div', {class: bytes > limit ? 'bar over' : 'bar'}, element('i'));
  bar.firstChild.style.width = `${Math.min(100 * bytes / limit, 100)}%`;
  return [element('div', {}, ...named(name), element('div', {class: 'dim'}, what)),
          element('div', {}, `${bytesText(bytes)} of ${bytesText(limit)}, ${share(bytes, limit)}`, bar)];
}
function drawSizes() {
  const section = find('#sizes'), built = data.ops.filter(op => op.library);
  if (!built.length) { section.append(element('p', {class: 'dim'}, 'There is no library.')); return; }
  section.append(element('p', {class: 'legend'}, 'Each op’s library by arch, and each arch’s kernels by their machine code. ' +
    'Device code is shown as it is stored, which may be compressed.'));
  const key = element('p', {class: 'legend', id: 'treemap-legend'}), map = element('div', {id: 'treemap'});
  const stored = data.archs.filter(arch => built.some(op => op.library.images.some(image => image.name === arch.name)));
  legend(key, [...stored.map(arch => [imageColour(arch.name), arch.name]), ['host', 'host code']]);
  section.append(key, map);
  drawTreemap(map);
  const largest = built.reduce((a, b) => a.library.bytes >= b.library.bytes ? a : b);
  section.append(element('h3', {}, 'Against the limits'), element('div', {class: 'wide'}, table(
    ['what, and which limit', 'size'],
    [limitRow(`${largest.name}, the largest library`, largest.library.bytes, data.limits.relocation_bytes,
              'relocations of 32 bits reach 2 GiB: beyond, a library does not link'),
     limitRow('all of it, as one wheel', data.bytes, data.limits.pypi_bytes, 'a file on PyPI, unless more was granted')],
    {id: 'limits'})));
  const rows = [];
  for (const op of built) {
    rows.push([op.name, 'all', number(op.library.bytes, bytesText(op.library.bytes)), '', '']);
    for (const image of op.library.images) {
      const kernel = image.kernels[0];
      rows.push([op.name, image.name, number(image.bytes, bytesText(image.bytes)), number(image.count, String(image.count)),
                 kernel ? `${data.names[kernel[0]]} (${bytesText(kernel[1])})` : '']);
    }
    rows.push([op.name, 'host code', number(op.library.host_bytes, bytesText(op.library.host_bytes)), '', '']);
  }
  section.append(element('details', {}, element('summary', {}, 'Sizes as a table'), element('div', {class: 'wide'},
    table(['op', 'arch', `bytes${NUMBER}`, `images${NUMBER}`, 'largest kernel'], rows, {id: 'size-table'}))));
}

// ---- time

const step = (most, ticks) => {
  const raw = most / ticks, power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  return [1, 2, 5, 10].map(n => n * power).find(n => n >= raw) || 10 * power;
};
function timeAxis(svg, x, height, width) {
  const end = timeText(timings.total_ms), room = width - widthOf(end) - 12;
  shape(svg, 'text', {x: width - 2, y: height - 3, class: 'axis', 'text-anchor': 'end'}, end);
  for (let at = 0, by = step(timings.total_ms, width > 700 ? 10 : 4); at <= timings.total_ms; at += by) {
    shape(svg, 'line', {x1: x(at), x2: x(at), y1: 0, y2: height - 14, class: 'grid'});
    const label = timeText(at);
    if (x(at) + widthOf(label) < room) shape(svg, 'text', {x: x(at) + 2, y: height - 3, class: 'axis'}, label);
  }
}
function drawTimeline(parent, shown) {
  parent.replaceChildren();
  const width = Math.max(Math.round(parent.clientWidth), 280), isNarrow = width < 600, row = isNarrow ? 30 : 20, height = shown.length * row + 18;
  const x = ms => ms / Math.max(timings.total_ms, 1) * (width - 4) + 2;
  const svg = shape(parent, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'group',
    'aria-label': 'Timeline: one bar for each edge. Arrows go through it; the table below has the numbers.'});
  timeAxis(svg, x, height, width);
  const bars = new Map(), links = shape(svg, 'g');
  const related = edge => {
    const before = new Set(), after = new Set();
    const back = i => { if (!before.has(i)) { before.add(i); edges[i].needs.forEach(back); } };
    back(edge.place);
    for (const other of edges) if (other.needs.some(i => i === edge.place || after.has(i))) after.add(other.place);
    return new Set([...before, ...after]);
  };
  const light = edge => {
    const kin = related(edge);
    for (const [place, bar] of bars) bar.classList.toggle('faded', !kin.has(place));
    for (const other of kin) for (const need of edges[other].needs) {
      if (!bars.has(other) || !bars.has(need) || !kin.has(need)) continue;
      const from = bars.get(need), to = bars.get(other);
      shape(links, 'path', {class: 'link', d: `M${x(edges[need].end)},${from.dataset.y * 1 + 9} V${to.dataset.y * 1 + 9} H${x(edges[other].begin)}`});
    }
  };
  const dim = () => { for (const bar of bars.values()) bar.classList.remove('faded'); links.replaceChildren(); };
  shown.forEach((edge, place) => {
    const y = place * row + (isNarrow ? 13 : 0), left = x(edge.begin), wide = Math.max(x(edge.end) - left, 1.5);
    const bar = shape(svg, 'g', {role: 'img', 'aria-label': edgeText(edge), 'data-y': y});
    bars.set(edge.place, bar);
    shape(bar, 'rect', {x: left, y: y + 2, width: wide, height: 14, rx: 2, fill: `var(--${edge.result})`,
      ...(chain.has(edge.place) ? {stroke: 'var(--critical)', 'stroke-width': 2.5} : {})});
    if (edge.begin > edge.ready)
      shape(bar, 'line', {x1: x(edge.ready), x2: left, y1: y + 9, y2: y + 9, stroke: 'var(--jobs)', 'stroke-dasharray': '2 3'});
    for (const [waits, fill] of [[edge.waits, 'var(--memory)'], [edge.core_waits, 'var(--jobs)']])
      for (const [from, to] of waits) shape(bar, 'rect', {x: x(from), y: y + 5, width: x(to) - x(from), height: 8, fill});
    const text = (chain.has(edge.place) ? '◆ ' : '') + edge.label, length = widthOf(text);
    if (isNarrow) {  // above the bar
      const isRight = left + length > width;
      shape(bar, 'text', {x: isRight ? width - 2 : left, y: y - 1, 'text-anchor': isRight ? 'end' : 'start', class: 'halo'}, cut(text, width - 4));
    } else if (length < wide - 6) {
      shape(bar, 'text', {x: left + 4, y: y + 13, class: textOn(edge.result)}, text);
    } else {
      const isBehind = left + wide + 4 + length < width;
      shape(bar, 'text', {x: isBehind ? left + wide + 4 : left - 4, y: y + 13, 'text-anchor': isBehind ? 'start' : 'end', class: 'halo'}, text);
    }
    tell(bar, () => edgeText(edge), () => light(edge), dim);
  });
  walk([...bars.values()]);
}
// Areas on each other. `series`: [colour, values]; a value for each step of time.
function drawAreas(parent, label, series, most, marks, unit) {
  const width = Math.max(Math.round(parent.clientWidth), 280), height = 130, base = height - 16;
  const svg = shape(parent, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label});
  const usage = timings.usage, x = ms => ms / Math.max(timings.total_ms, 1) * (width - 4) + 2;
  const y = value => base - value / Math.max(most, 1e-9) * (base - 20);
  timeAxis(svg, x, height, width);
  let below = usage.begin_ms.map(() => 0);
  for (const [colour, values] of series) {
    const above = values.map((value, i) => value + below[i]);
    let path = '';
    const ends = usage.begin_ms.map(begin => begin + usage.step_ms);
    const draw = (heights, forward) => {
      const order = heights.map((_, i) => i);
      if (!forward) order.reverse();
      for (const i of order) {
        const [a, b] = forward ? [usage.begin_ms[i], ends[i]] : [ends[i], usage.begin_ms[i]];
        path += `${path ? 'L' : 'M'}${x(a).toFixed(1)},${y(heights[i]).toFixed(1)}L${x(b).toFixed(1)},${y(heights[i]).toFixed(1)}`;
      }
    };
    draw(above, true);
    draw(below, false);
    if (path) shape(svg, 'path', {d: `${path}Z`, fill: `var(--${colour})`});
    below = above;
  }
  for (const [value, words, colour] of marks) {
    shape(svg, 'line', {x1: 0, x2: width, y1: y(value), y2: y(value), stroke: `var(--${colour})`, 'stroke-dasharray': '5 3'});
    shape(svg, 'text', {x: 4, y: y(value) - 5, class: 'halo'}, `${words} ${unit(value)}`);
  }
}
const WHY = [['busy', 'made', 'busy'], ['memory', 'memory', 'waiting for memory'], ['jobs', 'jobs', 'as many ran as --jobs lets'],
             ['dependency', 'dependency', 'no edge was ready'], ['finished', 'finished', 'every edge had begun']];
function drawCores(section) {
  const usage = timings.usage, cores = timings.analysis.cores;
  const all = WHY.reduce((sum, [name]) => sum + cores[`${name}_ms`], 0);
  section.append(element('h3', {}, 'Why cores idled'));
  const key = element('p', {class: 'legend'}), area = element('div', {id: 'cores'});
  legend(key, WHY.map(([, colour, words]) => [colour, words]));
  section.append(key, area);
  drawAreas(area, 'Cores over time; the table below has the sums.', WHY.map(([name, colour]) => [colour, usage[name].map(n => n / 100)]),
            timings.cores, [[Math.min(timings.jobs, timings.cores), 'jobs', 'limit']], value => value);
  section.append(table(['cores were', `core time${NUMBER}`, `share${NUMBER}`], WHY.map(([name, , words]) =>
    [document.createTextNode(words), number(cores[`${name}_ms`], timeText(cores[`${name}_ms`])), number(cores[`${name}_ms`], share(cores[`${name}_ms`], all))]), {id: 'core-table'}));
  section.append(element('h3', {}, 'Memory'));
  const words = element('p', {class: 'legend'}), memory = element('div', {id: 'memory'});
  legend(words, [['memory', 'the most that the edges which ran can have held together: the sum of their tools’ peaks']]);
  section.append(words, memory);
  const most = Math.max(...usage.peak_bytes, 0);
  const marks = [[timings.memory_bound_bytes, 'bound', 'limit']];
  const isNear = timings.memory_bound_bytes < 4 * most;
  if (!isNear) marks[0] = [most, `bound ${bytesText(timings.memory_bound_bytes)}, far above. Most`, 'limit'];
  drawAreas(memory, `Memory over time, at most ${bytesText(most)}; the bound is ${bytesText(timings.memory_bound_bytes)}.`,
            [['memory', usage.peak_bytes]], Math.max(isNear ? timings.memory_bound_bytes : 0, most, 1), marks, bytesText);
}
function drawTables(section) {
  const analysis = timings.analysis;
  section.append(element('h3', {}, `Critical path: ${timeText(analysis.chain_ms)}`), element('ol', {class: 'chain', id: 'chain'},
    ...analysis.chain.map(i => element('li', {'data-value': edges[i].worked}, `${timeText(edges[i].worked)}  `, element('code', {}, ...named(edges[i].label))))));
  section.append(element('h3', {}, 'Slowest files × archs'));
  const holder = element('div', {class: 'wide'}), some = 25;
  const draw = most => holder.replaceChildren(table(['op', 'file', 'arch', `time${NUMBER}`, `memory${NUMBER}`, 'result', `waited for memory${NUMBER}`],
    analysis.slowest.slice(0, most).map(i => edges[i]).map(edge => [edge.op, edge.source, edge.part || edge.archs, number(edge.worked, timeText(edge.worked)),
      number(edge.peak_bytes, edge.peak_bytes ? bytesText(edge.peak_bytes) : ''), RESULTS[edge.result],
      number(edge.waited, edge.waited ? timeText(edge.waited) : '')]), {id: 'slowest'}));
  draw(some);
  section.append(holder);
  if (analysis.slowest.length <= some) return;
  const more = element('button', {type: 'button', class: 'more'}, `Show all ${analysis.slowest.length}`);
  more.addEventListener('click', () => { draw(analysis.slowest.length); more.remove(); });
  section.append(more);
}
const SPANS = {prefetch: 'asked for all that the plan needs', fetch: 'what steps asked for', upload: 'results went up'};
function drawRemote(section) {
  const spans = timings.remote;
  if (!spans.length) return;
  const holder = element('div', {id: 'remote'}), names = Object.keys(SPANS).filter(name => spans.some(span => span.what === name));
  section.append(element('h3', {}, 'Shared cache'), holder);
  const width = Math.max(Math.round(holder.clientWidth), 280), row = 20, height = names.length * row + 18;
  const svg = shape(holder, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'When the shared cache was used; the table below has the sums.'});
  const x = ms => Math.min(ms / Math.max(timings.total_ms, 1), 1) * (width - 4) + 2;
  timeAxis(svg, x, height, width);
  names.forEach((name, place) => {
    for (const span of spans.filter(each => each.what === name))
      shape(svg, 'rect', {x: x(span.begin_ms), y: place * row + 2, width: Math.max(x(span.end_ms) - x(span.begin_ms), 1.5), height: 14, rx: 2,
        fill: 'var(--shared)', 'data-what': name});
    shape(svg, 'text', {x: 4, y: place * row + 13, class: 'halo'}, name);
  });
  const took = list => list.reduce((sum, span) => sum + span.end_ms - span.begin_ms, 0);
  section.append(table(['what', 'which is', `times${NUMBER}`, `time${NUMBER}`], names.map(name => {
    const list = spans.filter(span => span.what === name);
    return [name, SPANS[name], number(list.length, String(list.length)), number(took(list), timeText(took(list)))];
  }), {id: 'remote-table'}));
}
function drawTime() {
  const section = find('#time');
  if (!timings) {
    section.append(element('p', {class: 'dim'}, 'A bundle does not say how it was built. The page of its build folder does: dsbuild page BUILD_DIR.'));
    return;
  }
  const key = element('p', {class: 'legend'});
  const results = Object.keys(RESULTS).filter(result => edges.some(edge => edge.result === result));
  legend(key, [...results.map(result => [result, RESULTS[result]]), ['memory', 'waiting for memory'], ['jobs', 'ready, but no slot was free'],
               ['critical', '◆ critical path']]);
  const longest = [...edges].sort((a, b) => (b.end - b.begin) - (a.end - a.begin)), usual = 60;
  const least = longest.length > usual ? longest[usual].end - longest[usual].begin + 1 : 0;
  const slider = element('input', {type: 'range', id: 'least', min: 0, max: 1000, value: 0});
  const top = Math.max(longest[0] ? longest[0].end - longest[0].begin : 1, 1), says = element('output', {for: 'least'});
  const search = element('input', {type: 'search', id: 'filter', 'aria-label': 'Only edges with this in their name', placeholder: 'op, file, arch'});
  const timeline = element('div', {id: 'timeline'});
  const toTime = value => Math.round((value / 1000) ** 3 * top);  // fine where there are many
  slider.value = Math.round(Math.cbrt(least / top) * 1000);
  const update = () => {
    const from = toTime(slider.value), wanted = search.value.toLowerCase();
    const fit = edges.filter(edge => edge.end - edge.begin >= from && edge.label.toLowerCase().includes(wanted));
    const shown = fit.slice(0, 600);
    says.textContent = `${timeText(from)}: ${shown.length} of ${edges.length} edges` + (shown.length < fit.length ? ', the first of them' : '');
    drawTimeline(timeline, shown);
  };
  slider.addEventListener('input', update);
  search.addEventListener('input', update);
  section.append(key, element('div', {class: 'controls'}, element('label', {}, element('span', {class: 'whole'}, 'at least'), slider, says), search), timeline);
  update();
  drawRemote(section);
  drawCores(section);
  drawTables(section);
}

// ---- the rest

function drawEnvironment() {
  find('#environment').append(element('div', {class: 'wide'}, table(['what', 'value'], data.facts, {id: 'facts'})));
  find('h1').replaceChildren(...named(find('h1').textContent));
  find('#subtitle').textContent = `${data.kind === 'build' ? 'a build' : 'a bundle'} of ${count(data.ops.filter(op => op.built).length, 'op')}` +
    (data.requested.length ? ` for ${data.requested.join(' ')}` : '') + `, dsbuild ${data.dsbuild}`;
}
function drawAll() {
  drawShort(); drawMatrix(); drawGpus(); drawSizes(); drawTime(); drawEnvironment();
}
drawAll();
// Drawings are as wide as the window.
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  for (const place of ['#short .cards', '#matrix .legend', '#matrix .wide', '#gpus .legend', '#gpus .wide']) find(place).replaceChildren();
  for (const id of ['sizes', 'time', 'environment']) find(`#${id}`).replaceChildren(find(`#${id}-title`));
  drawAll();
});
})();
