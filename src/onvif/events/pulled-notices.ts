import type { Notice } from '../../analytics/metadata.js';
import { readNotices } from '../../analytics/notices.js';
import { all, at, attribute, type Element, textOf, utcMs } from '../../analytics/xml-tree.js';
import type { Profile } from '../profiles.js';

/** What a camera noticed, and when by our clock. */
export type PulledNotice = Omit<Notice, 'utcMs'> & { readonly wallMs: number };

/** What is older was waiting in the camera since before we asked, or its clock was set meanwhile. */
export const MAX_AGE_MS = 60_000;
const MAX_ITEMS = 16;

/** Which of a device's pictures a message is about, if it says so. */
const isSourceName = (name: string): boolean => /^(?:Video)?Source(?:Configuration)?(?:Token)?$/i.test(name);

/** Tokens of the device's other pictures: what is about those is another camera's. */
export const foreignSources = (profiles: readonly Profile[], own: Profile): ReadonlySet<string> => {
  const tokens = profiles.flatMap(({ source, sourceConfiguration }) => [source, sourceConfiguration]);
  return new Set(
    tokens.filter((token) => token !== '' && token !== own.source && token !== own.sourceConfiguration),
  );
};

const isForeign = (notification: Element, foreign: ReadonlySet<string>): boolean => {
  if (foreign.size === 0) return false;
  const message = at(notification, 'Message', 'Message') ?? at(notification, 'Message');
  return all(at(message, 'Source'), 'SimpleItem')
    .slice(0, MAX_ITEMS)
    .some((item) => isSourceName(attribute(item, 'Name')) && foreign.has(attribute(item, 'Value')));
};

/**
 * What an answer to PullMessages tells. Both of its times are the camera's: only how far they are apart counts, so that
 * nobody need know how its clock is set. `newsOf`: what of it is to be told.
 */
export const pulledNotices = (
  answer: Element,
  foreign: ReadonlySet<string>,
  nowMs: number,
  newsOf: (notices: readonly Notice[]) => readonly Notice[],
): PulledNotice[] => {
  const cameraNowMs = utcMs(textOf(at(answer, 'CurrentTime')));
  const own = all(answer, 'NotificationMessage').filter((message) => !isForeign(message, foreign));
  return newsOf(readNotices(own)).map(({ utcMs: thenMs, ...notice }) => {
    const ageMs = cameraNowMs === null || thenMs === null ? 0 : cameraNowMs - thenMs;
    return { ...notice, wallMs: nowMs - (ageMs > 0 && ageMs <= MAX_AGE_MS ? ageMs : 0) };
  });
};
