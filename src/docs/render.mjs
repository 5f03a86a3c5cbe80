// Makes the pages of the guide: HTML, one style sheet and one small script in a folder that the service hands out.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

const FOLDER = 'src/docs';
const GUIDE = join(FOLDER, 'guide');
const LIGHT = ':root[data-theme="light"]';

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As in headings of code hosts: what people link to elsewhere works here. */
const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** A section of the README, without its heading. */
const readmeSection = (readme, heading) => {
  const start = readme.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`the README has no section "${heading}"`);
  const body = readme.slice(start + heading.length + 5);
  const end = body.search(/\n## /);
  return (end < 0 ? body : body.slice(0, end)).trim();
};

/** Where a link leads in the guide; null: into the source, which a box may not have. */
const targetOf = (href) => {
  if (/^(?:https?:\/\/|\/|#)/.test(href)) return href;
  const page = /^([a-z-]+)\.md(#.*)?$/.exec(href);
  return page === null ? null : `/docs/${page[1]}${page[2] ?? ''}`;
};

const htmlOf = (markdown) => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === null ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      // Long lines and wide tables scroll in themselves, by keys as well.
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      table({ header, rows }) {
        const cell = (tag) => (each) => `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`;
        const row = (tag, cells) => `<tr>${cells.map(cell(tag)).join('')}</tr>`;
        const isBare = header.every(({ text }) => text === '');
        const head = isBare ? '' : `<thead>${row('th', header)}</thead>`;
        const body = rows.map((cells) => row('td', cells)).join('\n');
        return `<div class="wide" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      image: () => '',
      html: ({ text }) => escaped(text),
    },
  });
  return marked.parse(markdown);
};

const pageOf = (name, title, body, contents) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="dark light" />
    <meta name="referrer" content="no-referrer" />
    <title>${escaped(title)} – Framering guide</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/docs/guide.css" />
    <script src="/docs/guide.js"></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to content</a>
    <nav aria-label="Guide">
      <a class="home" href="/">Framering</a>
      <ul>
${contents
  .map((each) => {
    const current = each.name === name ? ' aria-current="page"' : '';
    const path = each.name === 'index' ? '/docs' : `/docs/${each.name}`;
    return `        <li><a href="${path}"${current}>${escaped(each.title)}</a></li>`;
  })
  .join('\n')}
        <li><a href="/api/docs">API reference</a></li>
      </ul>
    </nav>
    <main id="content">
      <article>
${body}
      </article>
    </main>
  </body>
</html>
`;

/** Without a script the page goes by the system's theme. */
const styles = () => {
  const layers = readFileSync('src/web/styles/layers.css', 'utf8');
  const start = layers.indexOf(LIGHT);
  const light = layers.slice(layers.indexOf('{', start) + 1, layers.indexOf('}', start));
  const bySystem = `@layer tokens { @media (prefers-color-scheme: light) { :root:not([data-theme]) {${light}} } }\n`;
  return layers + bySystem + readFileSync(join(FOLDER, 'guide.css'), 'utf8');
};

/** Writes all of the guide into a folder. */
export const renderGuide = (folder) => {
  const readme = readFileSync('README.md', 'utf8');
  const contents = JSON.parse(readFileSync(join(GUIDE, 'contents.json'), 'utf8')).map((name) => {
    const markdown = readFileSync(join(GUIDE, `${name}.md`), 'utf8');
    const title = /^# (.+)$/m.exec(markdown)?.[1];
    if (title === undefined) throw new Error(`${name}.md has no title`);
    const whole = markdown.replace(/^\{\{README: (.+)\}\}$/gm, (_, heading) =>
      readmeSection(readme, heading),
    );
    return { name, title, markdown: whole };
  });
  mkdirSync(folder, { recursive: true });
  for (const { name, title, markdown } of contents)
    writeFileSync(join(folder, `${name}.html`), pageOf(name, title, htmlOf(markdown), contents));
  writeFileSync(join(folder, 'guide.css'), styles());
  writeFileSync(join(folder, 'guide.js'), readFileSync(join(FOLDER, 'guide.js')));
};
