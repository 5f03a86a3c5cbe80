import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import styles from './page-head.module.css';

/** A page of text and tables: its title, what can be done with all of it, and the rest. */
export const PageBody = ({
  title,
  actions,
  isNarrow,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly isNarrow?: boolean;
  readonly children: ComponentChildren;
}) => (
  <div class={`${styles.page} ${isNarrow === true ? styles.narrow : ''}`}>
    <header class={styles.head}>
      <h1>{title}</h1>
      {actions === undefined ? null : <div class={styles.actions}>{actions}</div>}
    </header>
    {children}
  </div>
);

/** A part of a page with a title of its own. */
export const Panel = ({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) => {
  const id = useId();
  return (
    <section class={styles.panel} aria-labelledby={id}>
      <header class={styles.head}>
        <h2 id={id}>{title}</h2>
        {actions === undefined ? null : <div class={styles.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  );
};
