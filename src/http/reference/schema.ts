import { escaped, type Html, html } from './html.js';

export type Json = Readonly<Record<string, unknown>>;

const REFERENCE = '#/components/schemas/';
/** What lies deeper has a name of its own, or is rare. */
const MOST_DEEP = 6;

const linkTo = (name: string): Html => html`<a href="#schema-${escaped(name)}">${escaped(name)}</a>`;

const bounds: readonly (readonly [keyword: string, sign: string])[] = [
  ['minimum', '≥'],
  ['exclusiveMinimum', '>'],
  ['maximum', '≤'],
  ['exclusiveMaximum', '<'],
  ['minLength', 'length ≥'],
  ['maxLength', 'length ≤'],
  ['minItems', 'items ≥'],
  ['maxItems', 'items ≤'],
  ['pattern', 'matches'],
];

/** JSON can't say more exactly what number it is: it is no bound that anybody set. */
const isBound = (value: unknown): boolean =>
  value !== undefined && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER;

const noteOf = (schema: Json): Html => {
  const notes = bounds
    .filter(([keyword]) => isBound(schema[keyword]))
    .map(([keyword, sign]) => `${sign} ${String(schema[keyword])}`);
  if (schema['default'] !== undefined) notes.push(`default ${JSON.stringify(schema['default'])}`);
  if (typeof schema['format'] === 'string') notes.unshift(schema['format']);
  const text = [notes.join(', '), schema['description']].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  return text.length === 0 ? html`` : html` <span class="muted">${escaped(text.join('; '))}</span>`;
};

const propertiesOf = (schema: Json, depth: number): Html => {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const others = schema['additionalProperties'];
  const rows = properties.map(
    ([name, property]) =>
      html`<li><code>${escaped(name)}${escaped(required.has(name) ? '' : '?')}</code>: ${typeOf(property, depth + 1)}</li>`,
  );
  if (typeof others === 'object' && others !== null)
    rows.push(html`<li><code>…</code>: ${typeOf(others as Json, depth + 1)}</li>`);
  return rows.length === 0 ? html`object` : html`object<ul>${rows}</ul>`;
};

/** What a schema takes, in a line, or a list where it has parts. */
export const typeOf = (schema: Json, depth = 0): Html => {
  const { $ref, anyOf, oneOf, allOf, enum: values, const: only, type, items, prefixItems } = schema;
  const note = noteOf(schema);
  if (typeof $ref === 'string') return html`${linkTo($ref.replace(REFERENCE, ''))}${note}`;
  if (depth > MOST_DEEP) return html`…${note}`;
  const several = (anyOf ?? oneOf ?? allOf) as readonly Json[] | undefined;
  if (several !== undefined) {
    const parts = several.map((each) => typeOf(each, depth + 1));
    const between = allOf === undefined ? ' or ' : ' and ';
    return html`${parts.map((part, at) => (at === 0 ? part : html`${escaped(between)}${part}`))}${note}`;
  }
  if (Array.isArray(values))
    return html`<code>${escaped(values.map((each) => JSON.stringify(each)).join(' | '))}</code>${note}`;
  if (only !== undefined) return html`<code>${escaped(JSON.stringify(only))}</code>${note}`;
  if (Array.isArray(prefixItems))
    return html`[${(prefixItems as Json[]).map((each, at) => html`${escaped(at === 0 ? '' : ', ')}${typeOf(each, depth + 1)}`)}]${note}`;
  if (type === 'array') return html`list of ${typeOf((items ?? {}) as Json, depth + 1)}${note}`;
  if (type === 'object') return html`${propertiesOf(schema, depth)}${note}`;
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'anything';
  return html`${escaped(name)}${note}`;
};
