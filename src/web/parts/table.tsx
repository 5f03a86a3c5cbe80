import type { ComponentChildren } from 'preact';
import styles from './table.module.css';

/** Rows are the children; what is too wide scrolls by itself, and not the page. */
export const Table = ({
  caption,
  head,
  children,
}: {
  /** Read to those who don't see it. */
  readonly caption: string;
  /** The last column is of buttons where its title is empty. */
  readonly head: readonly string[];
  readonly children: ComponentChildren;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys, too
  <section class={styles.around} tabIndex={0} aria-label={caption}>
    <table class={styles.table}>
      <thead>
        <tr>
          {head.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
