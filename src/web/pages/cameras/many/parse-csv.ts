import type { NewCamera } from '../../../data/types.js';
import { type CsvRecord, type Delimiter, readCsv } from './csv.js';
import type { Known, LineFault, Raw } from './items.js';

const yes = /^(?:true|yes|y|1|on)$/i;
const no = /^(?:false|no|n|0|off|)$/i;

type Column =
  | 'id'
  | 'url'
  | 'sub_url'
  | 'folder'
  | 'tags'
  | 'comment'
  | 'transport'
  | 'retention_days'
  | 'traffic_limit'
  | 'sim_phone'
  | 'sim_iccid'
  | 'record'
  | 'on_demand'
  | 'token_auth'
  | 'disabled'
  | 'detect'
  | 'lazy_hls';

/** What a column may be called. */
const columns: Readonly<Record<string, Column>> = {
  ...{ id: 'id', url: 'url', address: 'url', sub_url: 'sub_url', sub: 'sub_url' },
  ...{ folder: 'folder', folder_id: 'folder', tags: 'tags', comment: 'comment', name: 'comment' },
  ...{ transport: 'transport', retention_days: 'retention_days', traffic_limit: 'traffic_limit' },
  ...{ sim_phone: 'sim_phone', sim_iccid: 'sim_iccid', record: 'record', on_demand: 'on_demand' },
  ...{ token_auth: 'token_auth', disabled: 'disabled', detect: 'detect', lazy_hls: 'lazy_hls' },
};

const MAX_RETENTION_DAYS = 36_500;
const MAX_TRAFFIC_MB = 1_000_000_000;
const MAX_COMMENT_CHARS = 4_096;
const MAX_SIM_CHARS = 64;
const MAX_TAGS = 100;

type Taken = { readonly settings: Partial<NewCamera>; readonly faults: readonly LineFault[] };

const bad = (column: Column): Taken => ({ settings: {}, faults: [{ code: 'bad_value', about: column }] });
const good = (settings: Partial<NewCamera>): Taken => ({ settings, faults: [] });

const byIdOrName = (things: Known['tags']): ((text: string) => string | undefined) => {
  const ids = new Map(things.map(({ id }) => [id, id]));
  const names = new Map(things.map(({ id, name }) => [name.toLowerCase(), id]));
  return (text) => ids.get(text) ?? names.get(text.toLowerCase());
};

type Finders = Readonly<Record<'folder' | 'tag', ReturnType<typeof byIdOrName>>>;

const tagsOf = (cell: string, delimiter: Delimiter, find: Finders['tag']): Taken => {
  const wished = cell
    .split(delimiter === ';' ? /[,|]/ : /[;|]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
  if (wished.length > MAX_TAGS) return bad('tags');
  const found = wished.map((tag) => ({ tag, id: find(tag) }));
  return {
    settings: { tags: [...new Set(found.flatMap(({ id }) => id ?? []))] },
    faults: found.flatMap(({ tag, id }) => (id === undefined ? [{ code: 'unknown_tag', about: tag }] : [])),
  };
};

const integer = (column: 'retention_days' | 'traffic_limit', cell: string, max: number): Taken =>
  /^\d{1,10}$/.test(cell) && Number(cell) <= max ? good({ [column]: Number(cell) }) : bad(column);

const text = (column: 'comment' | 'sim_phone' | 'sim_iccid', cell: string, max: number): Taken =>
  cell.length <= max ? good({ [column]: cell }) : bad(column);

/** One cell of a column; an empty one says nothing. */
const take = (column: Column, cell: string, delimiter: Delimiter, finders: Finders): Taken => {
  switch (column) {
    case 'id':
    case 'url':
    case 'sub_url':
      return good({});
    case 'folder': {
      const id = finders.folder(cell);
      if (id !== undefined) return good({ folder_id: id });
      return { settings: {}, faults: [{ code: 'unknown_folder', about: cell }] };
    }
    case 'tags':
      return tagsOf(cell, delimiter, finders.tag);
    case 'transport': {
      const transport = cell.toLowerCase();
      return transport === 'tcp' || transport === 'udp' ? good({ transport }) : bad(column);
    }
    case 'retention_days':
      return integer(column, cell, MAX_RETENTION_DAYS);
    case 'traffic_limit':
      return integer(column, cell, MAX_TRAFFIC_MB);
    case 'comment':
      return text(column, cell, MAX_COMMENT_CHARS);
    case 'sim_phone':
    case 'sim_iccid':
      return text(column, cell, MAX_SIM_CHARS);
    default:
      if (yes.test(cell)) return good({ [column]: true });
      return no.test(cell) ? good({ [column]: false }) : bad(column);
  }
};

/** What names columns: two of them at least that we know, or `url` alone. */
const delimiterOf = (header: string): Delimiter | null => {
  const isColumn = (name: string): boolean => columnOf(name) !== null;
  for (const delimiter of [',', ';', '\t'] as const) {
    const names = header.split(delimiter);
    if (names.some((name) => columnOf(name) === 'url') && (names.length === 1 || names.some(isColumn)))
      return delimiter;
  }
  return null;
};

const columnOf = (name: string): Column | null => {
  const plain = name
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .toLowerCase()
    .replace(/[ -]/g, '_');
  return Object.hasOwn(columns, plain) ? (columns[plain] ?? null) : null;
};

const readHeader = ({ cells, line }: CsvRecord, raw: Raw): (Column | null)[] => {
  const seen = new Set<Column>();
  return cells.map((name) => {
    const column = columnOf(name);
    const code = column === null ? 'unknown_column' : seen.has(column) ? 'column_twice' : null;
    if (code !== null && name !== '') raw.faults.push({ line, fault: { code, about: name } });
    if (column === null || seen.has(column)) return null;
    seen.add(column);
    return column;
  });
};

export type CsvOptions = {
  readonly maxRecords: number;
  readonly prefix: string;
  readonly readUrl: (source: string) => string;
  readonly addressFaults: (url: string) => LineFault[];
  readonly idWishOf: (url: string, prefix: string, values: readonly string[]) => string;
};

/** Reads a table whose first line names columns; null: the first line doesn't, so that this is none. */
export const parseCsv = (whole: string, known: Known, options: CsvOptions): Raw | null => {
  const begin = whole.search(/\S/);
  const header = begin < 0 ? '' : (whole.slice(begin).split('\n', 1)[0] ?? '');
  const delimiter = delimiterOf(header);
  if (delimiter === null) return null;
  const raw: Raw = { items: [], faults: [] };
  const [first, ...records] = readCsv(whole, delimiter, options.maxRecords + 2);
  if (first === undefined) return null;
  const named = readHeader(first, raw);
  const finders = { folder: byIdOrName(known.folders), tag: byIdOrName(known.tags) };
  for (const { line, cells, isWhole } of records) {
    if (raw.items.length === options.maxRecords) {
      const about = String(options.maxRecords);
      raw.faults.push({ line, fault: { code: 'too_many_lines', about } });
      break;
    }
    const cellOf = (column: Column): string => cells[named.indexOf(column)] ?? '';
    const [id, source, subSource] = [cellOf('id'), cellOf('url'), cellOf('sub_url')];
    const url = options.readUrl(source);
    const sub = subSource === '' ? '' : options.readUrl(subSource);
    const taken = named.flatMap((column, index) => {
      const cell = cells[index] ?? '';
      return column === null || cell === '' ? [] : [take(column, cell, delimiter, finders)];
    });
    const faults: LineFault[] = [
      ...options.addressFaults(url),
      ...(sub === '' || options.addressFaults(sub).length === 0
        ? []
        : [{ code: 'bad_value', about: 'sub_url' } as const]),
      ...taken.flatMap((each) => each.faults),
      ...(isWhole ? [] : [{ code: 'open_quote', about: '' } as const]),
      ...(cells.length > named.length
        ? [{ code: 'too_many_cells', about: String(cells.length - named.length) } as const]
        : []),
    ];
    const settings = Object.assign(
      {},
      ...taken.map((each) => each.settings),
      sub === '' ? {} : { sub_url: sub },
    );
    raw.items.push({
      line,
      source,
      subSource,
      url,
      id,
      idWish: options.idWishOf(url, options.prefix, []),
      settings,
      faults,
    });
  }
  return raw;
};
