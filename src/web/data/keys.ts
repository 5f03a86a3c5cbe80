import { computed, signal } from '@preact/signals';
import { preferences } from './preferences.js';

export type Shortcut = {
  /**
   * As `KeyboardEvent.key` has it, letters in lower case: `k`, `?`, `[`, `ArrowLeft`, `Space`, `Shift+ArrowLeft`.
   * Several that do the same stand beside each other.
   */
  readonly keys: readonly string[];
  /** What it does, as the help says it. */
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
};

/** What one part of the page offers, under its name in the help. */
export type ShortcutGroup = { readonly title: string; readonly shortcuts: readonly Shortcut[] };

const groups = signal<readonly ShortcutGroup[]>([]);

/** All that can be pressed now, for the help. */
export const offeredShortcuts = computed(() => groups.value);

/** Offers keys until the result is called; of two for the same key the later one counts. */
export const offerShortcuts = (group: ShortcutGroup): (() => void) => {
  groups.value = [...groups.peek(), group];
  return () => {
    groups.value = groups.peek().filter((each) => each !== group);
  };
};

/** Whoever speaks to the machine presses letters by accident, and can do without them (WCAG 2.1.4). */
export const hasLetterKeys = computed(() => preferences.value.letterKeys !== false);

/** What the key is called in `Shortcut.keys`. */
export const keyOf = (event: Pick<KeyboardEvent, 'key' | 'shiftKey'>): string => {
  if (event.key === ' ') return event.shiftKey ? 'Shift+Space' : 'Space';
  // The shift of a character is part of it: "?" needs it on one keyboard, and not on another.
  if (event.key.length === 1) return event.key.toLowerCase();
  return event.shiftKey ? `Shift+${event.key}` : event.key;
};

const TEXT_INPUT =
  'input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, [contenteditable]';
/** They have keys of their own. */
const ARROW_USER = 'input, [role=menu], [role=slider], [role=tablist], [role=listbox], dialog';
const PRESSED_BY_SPACE = 'button, a[href], summary, input, [role=button], [role=menuitem]';

const isTakenBy = (target: Element, key: string): boolean => {
  if (target.closest(TEXT_INPUT) !== null) return true;
  if (/Arrow|Home|End|Page/.test(key)) return target.closest(ARROW_USER) !== null;
  return /Space|Enter/.test(key) && target.closest(PRESSED_BY_SPACE) !== null;
};

const onKey = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : document.body;
  const key = keyOf(event);
  // It closes what is open above the page, and nothing else.
  if (key === 'Escape' && document.querySelector(':popover-open') !== null) return;
  if (key.length === 1 && !hasLetterKeys.peek()) return;
  if (isTakenBy(target, key) || document.querySelector('dialog:modal') !== null) return;
  const found = groups
    .peek()
    .flatMap(({ shortcuts }) => shortcuts)
    .findLast(({ keys }) => keys.includes(key));
  if (found === undefined) return;
  event.preventDefault();
  found.run(event);
};

export const startKeys = (): void => document.addEventListener('keydown', onKey);
