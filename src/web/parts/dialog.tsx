import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import styles from './dialog.module.css';

export type DialogProps = {
  readonly title: string;
  /** Escape, or the cross; whoever opened the dialog takes it away then. */
  readonly onClose: () => void;
  /** Buttons, the one that does it last. */
  readonly footer?: ComponentChildren;
  /** With it the whole is a form, and a button of type `submit` in the footer sends it. */
  readonly onSubmit?: () => void;
  readonly isWide?: boolean;
  readonly children?: ComponentChildren;
};

const FIRST_FIELD = 'input:not([type=radio]), input:checked, select, textarea';

/** Stands before everything for as long as it is drawn; the focus goes back to where it was. */
export const Dialog = ({ title, onClose, footer, onSubmit, isWide, children }: DialogProps) => {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // A form begins with its first field, not with the cross that ends it.
    dialog.current?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const content = (
    <>
      <header class={styles.head}>
        <h2 id={id}>{title}</h2>
        <Button icon="close" kind="quiet" label={shellText('close')} onClick={onClose} />
      </header>
      <div class={styles.body}>{children}</div>
      {footer === undefined ? null : <footer class={styles.foot}>{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={`${styles.dialog} ${isWide === true ? styles.wide : ''}`}
      aria-labelledby={id}
      // After a second Escape without a click browsers close it whatever is said here: it is there as long as it is drawn.
      onClose={() => dialog.current?.isConnected === true && dialog.current.showModal()}
      onCancel={(event) => {
        // It is taken away by whoever draws it, and not by the browser behind their back.
        event.preventDefault();
        onClose();
      }}
    >
      {onSubmit === undefined ? (
        <div class={styles.frame}>{content}</div>
      ) : (
        <form
          class={styles.frame}
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
};
