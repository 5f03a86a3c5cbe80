import { effect, signal } from '@preact/signals';
import { deviceStorage } from './storage.js';

const themes = ['system', 'dark', 'light'] as const;
export type Theme = (typeof themes)[number];

/** What this device shows; walls are dark, whatever it is. */
export const theme = signal<Theme>(themes.find((each) => each === deviceStorage.get('theme')) ?? 'system');
/** A page that is dark for a reason of its own, as walls are. */
export const isPageDark = signal(false);

const systemIsLight = matchMedia('(prefers-color-scheme: light)');
const isSystemLight = signal(systemIsLight.matches);

export const startTheme = (): void => {
  systemIsLight.addEventListener('change', ({ matches }) => {
    isSystemLight.value = matches;
  });
  effect(() => {
    const chosen = theme.value === 'system' ? (isSystemLight.value ? 'light' : 'dark') : theme.value;
    document.documentElement.dataset['theme'] = isPageDark.value ? 'dark' : chosen;
    deviceStorage.set('theme', theme.value);
  });
};
