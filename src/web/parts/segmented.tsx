import { useId } from 'preact/hooks';
import { Icon } from './icon.js';
import type { IconName } from './icons.js';
import styles from './segmented.module.css';

export type Choice<Value extends string> = {
  readonly value: Value;
  readonly label: string;
  readonly icon?: IconName;
};

/** One of a few, all of which are seen: an hour or a day, one view or another. */
export const Segmented = <Value extends string>(props: {
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}) => {
  const name = useId();
  return (
    <fieldset class={styles.group}>
      <legend class="visually-hidden">{props.label}</legend>
      {props.choices.map(({ value, label, icon }) => (
        <label key={value} class={styles.choice}>
          <input
            class="visually-hidden"
            type="radio"
            name={name}
            checked={value === props.value}
            onChange={() => props.onChange(value)}
          />
          {icon === undefined ? null : <Icon name={icon} />}
          {label}
        </label>
      ))}
    </fieldset>
  );
};
