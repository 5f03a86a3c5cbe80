/**
 * A `ref` for what has the focus as soon as the dialog or menu around it opens: in the same turn, since the next key may be there
 * before an event tells of the opening.
 */
export const focusWhenOpened = (element: HTMLElement | null): void => element?.setAttribute('autofocus', '');
