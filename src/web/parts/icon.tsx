import styles from './icon.module.css';
import { drawingOf, type IconName } from './icons.js';

/** A drawing; what it means is said beside it, or by `label` where nothing else does. */
export const Icon = ({ name, label }: { readonly name: IconName; readonly label?: string }) => (
  <svg
    class={styles.icon}
    viewBox="0 0 24 24"
    role={label === undefined ? undefined : 'img'}
    aria-label={label}
    aria-hidden={label === undefined ? true : undefined}
    dangerouslySetInnerHTML={{ __html: drawingOf(name) }}
  />
);
