import { useId, useRef, useState } from 'preact/hooks';
import { Button, type ButtonProps } from './button.js';
import { focusWhenOpened } from './focus-when-opened.js';
import { Icon } from './icon.js';
import type { IconName } from './icons.js';
import styles from './menu.module.css';

export type MenuItem = {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  /** Why it can't be chosen, shown on hover: what is greyed says so. */
  readonly notNow?: string;
  /** Of a choice: whether it is the one that counts. */
  readonly isChosen?: boolean;
  readonly onSelect: () => void;
};

const GAP_PX = 4;

/** Below the button, or above where there is no room; never outside the window. */
const place = (menu: HTMLElement, button: DOMRect): void => {
  const { width, height } = menu.getBoundingClientRect();
  const isRightToLeft = getComputedStyle(menu).direction === 'rtl';
  const wanted = isRightToLeft ? button.right - width : button.left;
  const left = Math.max(GAP_PX, Math.min(wanted, innerWidth - width - GAP_PX));
  const below = button.bottom + GAP_PX;
  const top = below + height > innerHeight ? Math.max(GAP_PX, button.top - GAP_PX - height) : below;
  menu.style.left = `${left}px`;
  menu.style.top = `${top}px`;
};

const roleOf = (isChosen: boolean | undefined): object =>
  isChosen === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': isChosen };

const itemsOf = (menu: HTMLElement): HTMLElement[] => [
  ...menu.querySelectorAll<HTMLElement>('[role^=menuitem]'),
];

const moveFocus = (event: KeyboardEvent): void => {
  const items = itemsOf(event.currentTarget as HTMLElement);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items[(to + items.length) % items.length]?.focus();
};

type MenuProps = Pick<ButtonProps, 'children' | 'icon' | 'label' | 'kind' | 'title' | 'isDisabled'> & {
  readonly items: readonly MenuItem[];
};

/** A button that opens a list of what can be done, or chosen. */
export const Menu = ({ items, ...button }: MenuProps) => {
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const around = useRef<HTMLSpanElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const onToggle = (event: { readonly newState: string }): void => {
    setIsOpen(event.newState === 'open');
    if (event.newState !== 'open' || menu.current === null || around.current === null) return;
    place(menu.current, around.current.getBoundingClientRect());
  };
  return (
    <>
      <span ref={around}>
        <Button {...button} popup={{ id, isOpen }} />
      </span>
      <div
        ref={menu}
        id={id}
        class={styles.menu}
        role="menu"
        tabIndex={-1}
        popover="auto"
        onToggle={onToggle}
        onKeyDown={moveFocus}
      >
        {items.map(({ label, icon, isDangerous, notNow, isChosen, onSelect }, index) => (
          <button
            key={label}
            type="button"
            ref={index === 0 ? focusWhenOpened : null}
            {...roleOf(isChosen)}
            class={`${styles.item} ${isDangerous === true ? styles.danger : ''}`}
            aria-disabled={notNow === undefined ? undefined : true}
            title={notNow}
            onClick={() => {
              if (notNow !== undefined) return;
              menu.current?.hidePopover();
              onSelect();
            }}
          >
            {icon === undefined && isChosen !== true ? null : <Icon name={icon ?? 'check'} />}
            {label}
          </button>
        ))}
      </div>
    </>
  );
};
