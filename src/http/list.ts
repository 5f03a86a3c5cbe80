import { z } from 'zod';
import { entityTagOf, taggedText } from './entity-tag.js';
import type { Answer, Reply } from './route.js';
import { idSchema } from './schemas.js';

/** What of a list is asked for; without them all of it. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  /** The last of the page before: the next one begins behind it, whether or not it is still there. */
  cursor: idSchema.optional(),
});

export type Page = z.infer<typeof pageQuery>;

/** The answers of a list. */
export const listAnswers = (description: string, item: z.ZodType): Readonly<Record<number, Answer>> => ({
  200: {
    description: `${description}; with \`limit\`, the next page is in \`Link\`, as \`rel="next"\``,
    schema: z.array(item),
  },
  304: { description: 'The list that the client has', contentType: null },
});

/** A list as text. Nobody keeps it unasked, since it may hold passwords; a client that did is told if it is still good. */
export const listText = (text: string | Buffer, link: string | null = null): Reply =>
  taggedText(text, entityTagOf(text, link ?? ''), link === null ? {} : { Link: link });

/** The part of a list that is asked for; `items` are sorted by `keyOf`, and shown as `viewOf` says. */
export const listPage = <Item>(
  path: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: Page,
  viewOf: (item: Item) => unknown = (item) => item,
): Reply => {
  const behind = cursor === undefined ? items : items.filter((item) => keyOf(item) > cursor);
  const shown = limit === undefined ? behind : behind.slice(0, limit);
  const last = shown.at(-1);
  const isEnd = last === undefined || shown.length === behind.length;
  // RFC 8288.
  const link = isEnd
    ? null
    : `<${path}?limit=${limit}&cursor=${encodeURIComponent(keyOf(last))}>; rel="next"`;
  return listText(JSON.stringify(shown.map(viewOf)), link);
};
