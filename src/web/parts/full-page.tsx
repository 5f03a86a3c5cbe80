import type { ComponentChildren, Ref } from 'preact';
import styles from './full-page.module.css';

/** A page that takes all the room there is, for pictures: a bar, and what is below it. */
export const FullPage = (props: {
  readonly element: Ref<HTMLElement>;
  readonly label: string;
  readonly children: ComponentChildren;
}) => (
  <section ref={props.element} class={styles.page} aria-label={props.label}>
    {props.children}
  </section>
);

export const FullPageBar = ({ children }: { readonly children: ComponentChildren }) => (
  <header class={styles.bar}>{children}</header>
);

/** What follows in a bar stands at its end. */
export const BarSpace = () => <span class={styles.space} />;
