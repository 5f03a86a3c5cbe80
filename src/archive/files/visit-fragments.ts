import type { FragmentInfo } from '../../fmp4/file-scanner.js';
import type { FileWalk } from './file-walk.js';

/** A walk forgets what was visited this often, so that its memory doesn't grow with the file. */
const MOST_FRAGMENTS_KEPT = 64;

/**
 * Visits the fragments from where the walk is, each once and while its samples are in the scanner's columns,
 * until there are no more (true) or `mayGoOn` says no (false).
 */
export const visitFragments = (
  walk: FileWalk,
  visit: (fragment: FragmentInfo) => void,
  mayGoOn: () => boolean,
): boolean => {
  const { scanner } = walk;
  let seen = 0;
  for (;;) {
    for (; seen < scanner.fragments.length; seen += 1) visit(scanner.fragments[seen]!);
    if (seen >= MOST_FRAGMENTS_KEPT) {
      scanner.skipTo(scanner.wholeBytes);
      seen = 0;
    }
    const range = scanner.wanted;
    if (range === null) return true;
    if (!mayGoOn()) return false;
    scanner.feed(walk.read(range.offset, range.lengthBytes));
  }
};
