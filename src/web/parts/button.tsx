import type { ComponentChildren } from 'preact';
import styles from './button.module.css';
import { Icon } from './icon.js';
import type { IconName } from './icons.js';

export type ButtonProps = {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** Of a button that has a drawing alone. */
  readonly label?: string;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  readonly isPressed?: boolean;
  readonly title?: string;
  /** The menu that it opens. */
  readonly popup?: { readonly id: string; readonly isOpen: boolean };
  readonly onClick?: (event: MouseEvent) => void;
};

export const Button = (props: ButtonProps) => {
  const {
    children,
    icon,
    label,
    kind = 'plain',
    type = 'button',
    isDisabled,
    isPressed,
    title,
    popup,
    onClick,
  } = props;
  return (
    <button
      type={type}
      class={`${styles.button} ${styles[kind]} ${children === undefined ? styles.bare : ''}`}
      disabled={isDisabled}
      aria-label={label}
      aria-pressed={isPressed}
      title={title ?? label}
      aria-haspopup={popup === undefined ? undefined : 'menu'}
      aria-expanded={popup?.isOpen}
      popovertarget={popup?.id}
      onClick={onClick}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
};

/** Looks like a button and leads somewhere: it can be opened in another tab. */
export const LinkButton = ({
  href,
  icon,
  kind = 'plain',
  children,
}: Pick<ButtonProps, 'children' | 'icon' | 'kind'> & { readonly href: string }) => (
  <a class={`${styles.button} ${styles[kind]}`} href={href}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </a>
);
