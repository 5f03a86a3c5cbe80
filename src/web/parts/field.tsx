import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import styles from './field.module.css';

export type FieldProps = {
  readonly label: string;
  readonly hint?: string;
  readonly fault?: string;
  /** Draws the input, which gets the id of its label and of what describes it. */
  readonly children: (given: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean | undefined;
    readonly class: string;
  }) => ComponentChildren;
};

/** A label, its input, and what is to be said of it. */
export const Field = ({ label, hint, fault, children }: FieldProps) => {
  const id = useId();
  const told = fault ?? hint;
  return (
    <div class={styles.field}>
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': told === undefined ? undefined : `${id}-told`,
        'aria-invalid': fault === undefined ? undefined : true,
        class: styles.input ?? '',
      })}
      {told === undefined ? null : (
        <p id={`${id}-told`} class={fault === undefined ? styles.hint : styles.fault}>
          {told}
        </p>
      )}
    </div>
  );
};
