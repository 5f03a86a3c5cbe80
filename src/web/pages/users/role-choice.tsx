import type { Me } from '../../data/session.js';
import { roleText } from '../../text/me.js';
import { usersText } from '../../text/users.js';
import styles from './users.module.css';

export type RoleName = Me['role'];

const roles: readonly RoleName[] = ['viewer', 'operator', 'admin', 'service'];

/** Which role, and what each of them is for. */
export const RoleChoice = ({
  value,
  onChange,
}: {
  readonly value: RoleName;
  readonly onChange: (role: RoleName) => void;
}) => (
  <fieldset class={styles.roles}>
    <legend>{usersText('role')}</legend>
    {roles.map((role) => (
      <label key={role} class={styles.role}>
        <input
          type="radio"
          name="role"
          value={role}
          checked={role === value}
          onChange={() => onChange(role)}
        />
        <span>{roleText(role)}</span>
        <small>{roleText(`${role}Hint`)}</small>
      </label>
    ))}
  </fieldset>
);
