import { effect, signal } from '@preact/signals';
import { Problem } from './problem.js';
import { call, me, onAnotherUser } from './session.js';

/** What pages keep for the user, on the service: it follows to every browser. */
export type Preferences = {
  /** Single letters as keys can be switched off (WCAG 2.1.4). */
  readonly letterKeys?: boolean;
  readonly lastWall?: string;
  /** After so many seconds a wall turns its page; without it never. */
  readonly tourSec?: number;
  /** A wall enlarges the tile of a camera at which something is detected. */
  readonly enlargesEvents?: boolean;
  /** What is detected isn't drawn over live pictures. */
  readonly hidesDetections?: boolean;
  readonly [name: string]: unknown;
};

export const preferences = signal<Preferences>({});
/** As the service has them, and what it is still to be told: both together are shown. */
let kept: Preferences = {};
let pending: readonly Preferences[] = [];
let tag = '';
let writing: Promise<void> = Promise.resolve();

const show = (): void => {
  preferences.value = Object.assign({}, kept, ...pending);
};

export const loadPreferences = async (): Promise<void> => {
  const owner = me.peek()?.username;
  const answer = await call('GET', '/api/me/preferences');
  if (me.peek()?.username !== owner) return;
  tag = answer.headers.get('etag') ?? '';
  kept = (await answer.json()) as Preferences;
  show();
};

const write = async (changes: Preferences, by: string | undefined): Promise<void> => {
  if (me.peek()?.username !== by) return;
  // Set before they were read: what else is there has to stay.
  if (tag === '') await loadPreferences();
  for (let tries = 1; ; tries++) {
    const body = { ...kept, ...changes };
    try {
      const answer = await call('PUT', '/api/me/preferences', { body, ifMatch: tag });
      // Read to its end, or the browser takes the request for one that goes on.
      await answer.text();
      tag = answer.headers.get('etag') ?? '';
      kept = body;
      return;
    } catch (fault) {
      // Another tab has changed something else meanwhile: that stays, and this is added.
      if (!(fault instanceof Problem && fault.code === 'precondition_failed') || tries === 3) throw fault;
      await loadPreferences();
    }
  }
};

/** Shown at once, kept one after another; what could not be kept is as it was again. */
export const setPreferences = (changes: Preferences): Promise<void> => {
  const by = me.peek()?.username;
  pending = [...pending, changes];
  show();
  writing = writing
    .catch(() => {})
    .then(() => write(changes, by))
    .finally(() => {
      pending = pending.filter((each) => each !== changes);
      show();
    });
  return writing;
};

/** Whether what is detected is drawn over live pictures, here and in every browser of the user. */
export const toggleDetections = (): void =>
  void setPreferences({ hidesDetections: preferences.peek().hidesDetections !== true }).catch(() => {});

/** Read as soon as somebody is signed in; nobody waits for them, nor misses them if they can't be read. */
export const startPreferences = (): void => {
  onAnotherUser(() => {
    kept = {};
    pending = [];
    tag = '';
    show();
  });
  let owner: string | null = null;
  effect(() => {
    const name = me.value?.username ?? null;
    if (name !== null && name !== owner) void loadPreferences().catch(() => {});
    owner = name;
  });
};
