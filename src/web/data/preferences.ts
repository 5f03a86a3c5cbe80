import { effect, signal } from '@preact/signals';
import { Problem } from './problem.js';
import { call, me } from './session.js';

/** What pages keep for the user, on the service: it follows to every browser. */
export type Preferences = {
  /** Single letters as keys can be switched off (WCAG 2.1.4). */
  readonly letterKeys?: boolean;
  readonly lastWall?: string;
  readonly [name: string]: unknown;
};

export const preferences = signal<Preferences>({});
let tag = '';
let writing: Promise<void> = Promise.resolve();

export const loadPreferences = async (): Promise<void> => {
  const answer = await call('GET', '/api/me/preferences');
  tag = answer.headers.get('etag') ?? '';
  preferences.value = (await answer.json()) as Preferences;
};

const write = async (changes: Preferences): Promise<void> => {
  // Set before they were read: what else is there has to stay.
  if (tag === '') await loadPreferences();
  for (let tries = 1; ; tries++) {
    const body = { ...preferences.peek(), ...changes };
    try {
      const answer = await call('PUT', '/api/me/preferences', { body, ifMatch: tag });
      // Read to its end, or the browser takes the request for one that goes on.
      await answer.text();
      tag = answer.headers.get('etag') ?? '';
      preferences.value = body;
      // An answer that nobody reads holds its connection.
      await answer.arrayBuffer();
      return;
    } catch (fault) {
      // Another tab has changed something else meanwhile: that stays, and this is added.
      if (!(fault instanceof Problem && fault.code === 'precondition_failed') || tries === 3) throw fault;
      await loadPreferences();
    }
  }
};

/** Shown at once, kept one after another. */
export const setPreferences = (changes: Preferences): Promise<void> => {
  preferences.value = { ...preferences.peek(), ...changes };
  writing = writing.catch(() => {}).then(() => write(changes));
  return writing;
};

/** Read as soon as somebody is signed in; nobody waits for them, nor misses them if they can't be read. */
export const startPreferences = (): void => {
  let owner: string | null = null;
  effect(() => {
    const name = me.value?.username ?? null;
    if (name === null || name === owner) return;
    owner = name;
    preferences.value = {};
    tag = '';
    void loadPreferences().catch(() => {});
  });
};
