import { escaped, type Html, html } from './html.js';
import { type Json, typeOf } from './schema.js';

type Operation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Json[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Json;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Record<string, { schema: Json }> }>
  >;
};

const METHODS = ['get', 'post', 'put', 'delete'] as const;

/** What a path is about: the first part of it that says so. */
const groupOf = (path: string): string =>
  path.split('/').filter((part) => part !== '' && part !== 'api')[0] ?? 'other';

const textOf = (text: string): Html =>
  html`${text.split('`').map((part, at) => (at % 2 === 0 ? escaped(part) : html`<code>${escaped(part)}</code>`))}`;

const contentOf = (content: Readonly<Record<string, { readonly schema?: Json }>>): Html =>
  html`${Object.entries(content).map(
    ([type, { schema = {} }]) =>
      html`<div><code>${escaped(type)}</code>${Object.keys(schema).length === 0 ? html`` : html`: ${typeOf(schema)}`}</div>`,
  )}`;

const parametersOf = (operation: Operation): Html => {
  const { parameters = [] } = operation;
  if (parameters.length === 0) return html``;
  const rows = parameters.map(
    ({ name, in: where, required, description = '', schema }) =>
      html`<li><code>${escaped(name)}${escaped(required === true ? '' : '?')}</code> in ${escaped(where)}: ${typeOf(schema)} <span class="muted">${escaped(description)}</span></li>`,
  );
  return html`<h4>Takes</h4><ul>${rows}</ul>`;
};

const operationOf = (method: string, path: string, operation: Operation): Html => {
  const { operationId, summary = '', description = '', requestBody, responses } = operation;
  const isOpen = operation.security?.length === 0;
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const answers = Object.entries(responses).filter(([status]) => !(Number(status) >= 400));
  return html`<details id="${escaped(operationId)}"><summary><span class="method">${escaped(method.toUpperCase())}</span> <code>${escaped(path)}</code> <span class="muted">${textOf(summary)}</span></summary>
<p>${textOf(isOpen ? 'Open to all.' : description)}</p>
${parametersOf(operation)}
${requestBody === undefined ? html`` : html`<h4>Body</h4>${contentOf(requestBody.content)}`}
<h4>Answers</h4><ul>${answers.map(
    ([status, { description: what, content = {} }]) =>
      html`<li><code>${escaped(status)}</code> ${escaped(what)}${contentOf(content)}</li>`,
  )}</ul>
${errors.length === 0 ? html`` : html`<p>Errors: ${errors.map(([status, { description: what }]) => html`<code>${escaped(status)}</code> ${escaped(what)} `)}</p>`}
</details>
`;
};

/** A document of ours for people: one page that asks for nothing from elsewhere, and looks like the guide. */
export const referenceOf = (document: Json): string => {
  const { title, version } = document['info'] as { title: string; version: string };
  const paths = document['paths'] as Record<string, Record<string, Operation>>;
  const groups = new Map<string, Html[]>();
  for (const [path, operations] of Object.entries(paths))
    for (const method of METHODS) {
      const operation = operations[method];
      if (operation === undefined) continue;
      const group = groups.get(groupOf(path)) ?? [];
      groups.set(groupOf(path), group);
      group.push(operationOf(method, path, operation));
    }
  const names = [...groups.keys()].sort();
  const { schemas } = document['components'] as { schemas: Record<string, Json> };
  const named = Object.keys(schemas).sort();
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="dark light" />
    <meta name="referrer" content="no-referrer" />
    <title>API reference – ${escaped(title)}</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/docs/guide.css" />
    <script src="/docs/guide.js"></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to content</a>
    <nav aria-label="Reference">
      <a class="home" href="/">Framering</a>
      <ul>
        <li><a href="/docs">Guide</a></li>
        ${names.map((name) => html`<li><a href="#${escaped(name)}">${escaped(name)}</a></li>`)}
        <li><a href="#schemas">Forms</a></li>
      </ul>
    </nav>
    <main id="content">
      <article>
      <h1>API reference</h1>
      <p>${escaped(title)} ${escaped(version)}. The same for programs: <a href="/api/openapi.json">openapi.json</a>. Errors are
      <code>application/problem+json</code> with a <code>code</code> that stays the same. Access tokens go in
      <code>Authorization: Bearer …</code>, and so do API keys.</p>
      ${names.map((name) => html`<h2 id="${escaped(name)}">${escaped(name)}</h2>${groups.get(name) ?? []}`)}
      <h2 id="schemas">Forms</h2>
      ${named.map((name) => html`<h3 id="schema-${escaped(name)}">${escaped(name)}</h3><div>${typeOf(schemas[name] ?? {})}</div>`)}
      </article>
    </main>
  </body>
</html>
`;
};
