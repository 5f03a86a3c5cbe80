import { readAddress, sameStreamKey, withLogin } from './address.js';
import { expandBraces } from './braces.js';
import type { Common, Item, Known, LineFault, Parsed, Raw } from './items.js';
import { parseCsv } from './parse-csv.js';
import { IdSuggestions } from './suggest-ids.js';

/** As many as the service takes at once. */
export const MAX_CAMERAS = 1_000;
export const MAX_LINES = 1_000;
const MAX_URL_CHARS = 2_048;
const MAX_TEXT_CHARS = 2_500_000;

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** A bare address means RTSP. */
const withScheme = (text: string): string => (/^[a-z][a-z0-9+]*:\/\//i.test(text) ? text : `rtsp://${text}`);

const addressFaults = (url: string): LineFault[] => {
  if (url === '') return [{ code: 'no_address', about: '' }];
  if (url.length > MAX_URL_CHARS) return [{ code: 'too_long', about: String(MAX_URL_CHARS) }];
  return readAddress(url) === null ? [{ code: 'bad_address', about: '' }] : [];
};

/** A host's name, and the end of its path where that tells streams of one host apart. */
const idWishOf = (url: string, prefix: string, values: readonly string[]): string => {
  if (prefix !== '' && values.length > 0) return `${prefix}${values.join('-')}`;
  const host = (readAddress(url)?.host ?? '').replace(/:\d+$/, '').replace(/[[\]:]/g, '-');
  return `${prefix}${host}`;
};

const addressOf = (source: string, { mended, user, password }: Common): string => {
  const known = mended.get(source);
  if (known !== undefined || user === '' || readAddress(source)?.login !== '') return known ?? source;
  return withLogin(source, user, password);
};

/** Lines of addresses: patterns with braces, and a name behind a space. */
const parseAddresses = (lines: readonly string[], common: Common): Raw => {
  const raw: Raw = { items: [], faults: [] };
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, address = '', name = ''] = /^(\S+)(?:\s+(.*))?$/s.exec(trimmed) ?? [];
    const left = MAX_CAMERAS - raw.items.length;
    const expanded = expandBraces(address, left);
    if (typeof expanded === 'string') {
      const code = expanded === 'range' ? 'bad_range' : 'too_many_cameras';
      raw.faults.push({ line, fault: { code, about: code === 'bad_range' ? address : String(MAX_CAMERAS) } });
      continue;
    }
    for (const { text: one, values } of expanded) {
      const source = withScheme(one);
      const url = addressOf(source, common);
      const comment = expanded.length > 1 && name !== '' ? `${name} ${values.join('-')}` : name;
      const settings = comment === '' ? {} : { comment };
      const idWish = idWishOf(url, common.prefix, values);
      raw.items.push({
        line,
        source,
        subSource: '',
        url,
        id: '',
        idWish,
        settings,
        faults: addressFaults(url),
      });
    }
  }
  return raw;
};

const finish = (raw: Raw, known: Known): Parsed => {
  const existing = [...known.cameras];
  const streams = new Map(existing.map(({ id, url }) => [sameStreamKey(url), id]));
  const seenAt = new Map<string, number>();
  const ids = new IdSuggestions(existing.map(({ id }) => id));
  const nthOfLine = new Map<number, number>();
  const idFaults = raw.items.map(({ id }): LineFault[] => {
    if (id === '') return [];
    if (!ID.test(id)) return [{ code: 'bad_id', about: id }];
    return ids.take(id) ? [] : [{ code: 'id_taken', about: id }];
  });
  const items = raw.items.map((item, index): Item => {
    const key = sameStreamKey(item.url);
    const before = item.url === '' ? undefined : seenAt.get(key);
    if (before === undefined) seenAt.set(key, item.line);
    const nth = nthOfLine.get(item.line) ?? 0;
    nthOfLine.set(item.line, nth + 1);
    const id = item.id === '' ? ids.suggest(item.idWish) : item.id;
    const twice: LineFault[] = before === undefined ? [] : [{ code: 'twice', about: String(before) }];
    return {
      ...{ source: item.source, subSource: item.subSource, line: item.line, nth, isIdOurs: item.id === '' },
      camera: { ...item.settings, id, url: item.url },
      faults: [...item.faults, ...(idFaults[index] ?? []), ...twice],
      sameAs: streams.get(key) ?? '',
    };
  });
  return { items, faults: raw.faults };
};

export const nothingCommon: Common = { prefix: '', user: '', password: '', mended: new Map() };

/**
 * Reads what somebody pasted: addresses, a line each, with braces for many; or CSV, when its first line names columns.
 * However long or odd the text is, at most a thousand cameras come of it.
 */
export const parseLines = (text: string, known: Known, common = nothingCommon): Parsed => {
  if (text.length > MAX_TEXT_CHARS)
    return {
      items: [],
      faults: [{ line: 1, fault: { code: 'too_much_text', about: String(MAX_TEXT_CHARS) } }],
    };
  const normal = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const readUrl = (source: string): string => addressOf(source, common);
  const options = { maxRecords: MAX_LINES, prefix: common.prefix, readUrl, addressFaults, idWishOf };
  const csv = parseCsv(normal, known, options);
  if (csv !== null) return finish(csv, known);
  const lines = normal.split('\n', MAX_LINES + 1);
  const raw = parseAddresses(lines.slice(0, MAX_LINES), common);
  if (lines.length > MAX_LINES && normal.trimEnd().split('\n', MAX_LINES + 1).length > MAX_LINES)
    raw.faults.push({ line: MAX_LINES + 1, fault: { code: 'too_many_lines', about: String(MAX_LINES) } });
  return finish(raw, known);
};
