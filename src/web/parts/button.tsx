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
      onClick={onClick}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
};
