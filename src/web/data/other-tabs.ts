import { resume, SIGNED_IN, session } from './session.js';

/** Who signs in in one tab needn't do it in the others: the cookie is theirs, too. */
export const startOtherTabs = (): void =>
  addEventListener('storage', ({ key, newValue }) => {
    const { state } = session.peek();
    const isOut = state === 'out' || state === 'ended';
    if (key === SIGNED_IN && newValue !== null && isOut) void resume().catch(() => {});
  });
