import styles from './select.module.css';

export type Option = { readonly value: string; readonly label: string; readonly isDisabled?: boolean };

/** One of many. Its name stands before it, or is only read where a bar has no room. */
export const Select = ({
  label,
  isLabelHidden,
  options,
  value,
  isDisabled,
  onChange,
}: {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly options: readonly Option[];
  readonly value: string;
  readonly isDisabled?: boolean;
  readonly onChange: (value: string) => void;
}) => (
  <label class={styles.inline}>
    <span class={isLabelHidden === true ? 'visually-hidden' : undefined}>{label}</span>
    <select
      class={styles.select}
      value={value}
      disabled={isDisabled}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.isDisabled}>
          {option.label}
        </option>
      ))}
    </select>
  </label>
);
