import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import type { IconName } from './icons.js';
import styles from './states.module.css';

export type Tone = 'plain' | 'accent' | 'ok' | 'warn' | 'danger';

const SKELETON_AFTER_MS = 150;
const barNumbers = (bars: number): readonly number[] => Array.from({ length: bars }, (_, index) => index);

/** Where something will be in a moment. Nothing is shown for what comes at once: a flash is worse than a short wait. */
export const Skeleton = ({ bars = 4 }: { readonly bars?: number }) => {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div class={styles.skeleton}>
      <span class="visually-hidden">{shellText('loading')}</span>
      {barNumbers(bars).map((bar) => (
        <div key={bar} class={styles.bar} />
      ))}
    </div>
  );
};

/** Nothing is there: one sentence, and the one button that changes it. */
export const EmptyState = ({
  icon,
  text,
  children,
}: {
  readonly icon?: IconName;
  readonly text: string;
  readonly children?: ComponentChildren;
}) => (
  <div class={styles.empty}>
    {icon === undefined ? null : <Icon name={icon} />}
    <p>{text}</p>
    {children}
  </div>
);

const toneIcons = { plain: 'info', accent: 'info', ok: 'ok', warn: 'warning', danger: 'fault' } as const;

/** One line over a page that stays until it is dealt with, or dismissed. */
export const Banner = ({
  tone = 'accent',
  icon,
  children,
  action,
  onDismiss,
}: {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
  readonly onDismiss?: () => void;
}) => (
  <div class={`${styles.banner} ${styles[tone]}`}>
    <Icon name={icon ?? toneIcons[tone]} />
    <p>{children}</p>
    {action}
    {onDismiss === undefined ? null : (
      <Button icon="close" kind="quiet" label={shellText('dismiss')} onClick={onDismiss} />
    )}
  </div>
);

/** A state: drawing, word and colour, never the colour alone. */
export const Badge = ({
  tone = 'plain',
  icon,
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
  readonly title?: string;
}) => (
  <span class={`${styles.badge} ${styles[tone]}`} title={title}>
    <Icon name={icon ?? toneIcons[tone]} />
    {children}
  </span>
);
