export type ListedPart = { readonly uri: string; readonly segment: number; readonly part: number };

/** What a low-latency playlist says, as far as a player needs it that loads each part once. */
export type PartsPlaylist = {
  /** The first variant of a master manifest; null: this is no master. */
  readonly variant: string | null;
  readonly map: string | null;
  readonly parts: readonly ListedPart[];
  /** The part that comes next. */
  readonly next: { readonly segment: number; readonly part: number };
};

const attribute = (line: string, name: string): string | null =>
  new RegExp(`[:,]${name}="?([^",]+)`).exec(line)?.[1] ?? null;

/** Reads a playlist (RFC 8216bis §4.4). */
export const readPartsPlaylist = (text: string): PartsPlaylist => {
  const parts: ListedPart[] = [];
  let map: string | null = null;
  let variant: string | null = null;
  let isMaster = false;
  let [segment, part] = [0, 0];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#EXT-X-STREAM-INF:')) isMaster = true;
    else if (line.startsWith('#EXT-X-MEDIA-SEQUENCE:')) segment = Number(line.slice(22));
    else if (line.startsWith('#EXT-X-SKIP:')) segment += Number(attribute(line, 'SKIPPED-SEGMENTS') ?? 0);
    else if (line.startsWith('#EXT-X-MAP:')) map = attribute(line, 'URI');
    else if (line.startsWith('#EXT-X-PART:')) {
      parts.push({ uri: attribute(line, 'URI') ?? '', segment, part });
      part += 1;
    } else if (line !== '' && !line.startsWith('#')) {
      if (isMaster) variant ??= line;
      segment += 1;
      part = 0;
    }
  }
  return { variant, map, parts, next: { segment, part } };
};
