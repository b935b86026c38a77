// What a page lacks for people who see little, or use no mouse; a list of sentences, empty when nothing was found.
() => {
  const found = [];
  const visible = e => { const r = e.getBoundingClientRect(); const s = getComputedStyle(e); return r.width > 0 && r.height > 0 && s.visibility !== 'hidden' && s.display !== 'none'; };
  const where = e => `${e.tagName.toLowerCase()}${e.className && typeof e.className === 'string' ? '.' + e.className.trim().split(/\s+/).join('.') : ''} "${(e.textContent || '').trim().slice(0, 40)}"`;
  const parse = c => { const m = c.match(/[\d.]+/g); return m ? [+m[0], +m[1], +m[2], m.length > 3 ? +m[3] : 1] : [0, 0, 0, 0]; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const background = e => { const stack = []; for (let n = e; n; n = n.parentElement) stack.push(parse(getComputedStyle(n).backgroundColor)); return stack.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!e || seen.has(e) || !walker.currentNode.textContent.trim() || !visible(e) || e.closest('script,style,noscript,title,:disabled,.skip')) continue;
    seen.add(e);
    const style = getComputedStyle(e);
    const under = background(e);
    const text = over(parse(e.closest('svg') ? style.fill : style.color), under);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700) ? 3 : 4.5;
    const has = ratio(text, under);
    if (has < needed) found.push(`contrast ${has.toFixed(2)} < ${needed}: ${where(e)}`);
  }

  const name = e => (e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id)?.textContent || '').join('')
    || (e.labels && [...e.labels].map(l => l.textContent).join('')) || (e.matches('input,select,textarea') ? '' : e.textContent) || e.title || '').trim();
  for (const e of document.querySelectorAll('a[href],button,input,select,textarea,[role=img],[role=region],[role=group],nav,[tabindex="0"]')) {
    if (visible(e) && !e.closest('[aria-hidden=true]') && !name(e)) found.push(`no name: ${where(e)}`);
  }

  for (const [selector, count] of [['main', 1], ['header.top', 1], ['nav', 1], ['h1', 1]]) {
    const there = document.querySelectorAll(selector).length;
    if (there !== count) found.push(`${there} of ${selector}, not ${count}`);
  }
  let level = 0;
  for (const h of document.querySelectorAll('main h1,main h2,main h3,main h4')) {
    const own = +h.tagName[1];
    if (own > level + 1) found.push(`heading h${own} after h${level}: ${where(h)}`);
    level = own;
  }
  for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) found.push(`tabindex ${e.tabIndex}: ${where(e)}`);
  for (const table of document.querySelectorAll('table')) if (!table.querySelector('th[scope]')) found.push('a table without heads');
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push(`id ${id} is there twice`);
  if (!document.documentElement.lang) found.push('no language');
  if (!document.title) found.push('no title');
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide in ${innerWidth} px`);
  return found;
}
