import { useEffect, useRef } from 'preact/hooks';
import { offerShortcuts, type ShortcutGroup } from '../data/keys.js';

/** Offers keys for as long as the part is drawn; what they do may be another thing at every drawing. */
export const useShortcuts = (group: ShortcutGroup): void => {
  const latest = useRef(group);
  latest.current = group;
  const named = group.shortcuts.map(({ keys, does }) => `${keys.join(' ')} ${does}`).join('\n');
  useEffect(
    () =>
      offerShortcuts({
        title: group.title,
        shortcuts: latest.current.shortcuts.map((shortcut, index) => ({
          ...shortcut,
          run: (event) => latest.current.shortcuts[index]?.run(event),
        })),
      }),
    [group.title, named],
  );
};
