import type { Principal } from '../auth/tokens.js';
import { plainAddress } from '../base/client-address.js';
import type { Logger } from '../base/log.js';

/** What the audit log tells of: each route that changes something, or hands out what was recorded or configured. */
export const auditActions = [
  'login',
  'renew_session',
  'end_session',
  'change_password',
  'create_camera',
  'update_camera',
  'delete_camera',
  'forget_box',
  'change_cameras',
  'test_camera',
  'probe_device',
  'move_camera',
  'set_preset',
  'delete_preset',
  'delete_recordings',
  'create_tag',
  'update_tag',
  'delete_tag',
  'create_folder',
  'update_folder',
  'delete_folder',
  'create_user',
  'update_user',
  'delete_user',
  'create_key',
  'delete_key',
  'use_key',
  'create_layout',
  'update_layout',
  'delete_layout',
  'protect_event',
  'update_settings',
  'create_webhook',
  'update_webhook',
  'delete_webhook',
  'renew_webhook_secret',
  'test_webhook',
  'export_recording',
  'export',
  'download_export',
  'end_export',
  'export_backup',
  'restore_backup',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** What a handler adds to the record: of what, and how much. Names of fields, never what was in them. */
export type AuditDetails = {
  /** Who, where no token says it. */
  readonly user?: string;
  readonly camera_id?: string;
  /** What else was meant: the id of a tag or folder, the name of a user. */
  readonly target?: string;
  readonly fields?: readonly string[];
  readonly [detail: string]: string | number | readonly string[] | undefined;
};

/** Who asks, and from where. */
export type AuditCaller = {
  readonly principal: Principal | null;
  readonly clientAddress: string;
  readonly requestId: unknown;
};

/** The record of one request that may come to be written. */
export class AuditNote {
  readonly #log: Logger;
  readonly #action: AuditAction;
  readonly #caller: AuditCaller;
  #details: AuditDetails = {};
  #isLeftOut = false;

  constructor(log: Logger, action: AuditAction, caller: AuditCaller) {
    this.#log = log;
    this.#action = action;
    this.#caller = caller;
  }

  /** It goes on with what has its record already. */
  leaveOut(): void {
    this.#isLeftOut = true;
  }

  add(details: AuditDetails): void {
    this.#details = { ...this.#details, ...details };
  }

  /** It was done. */
  done(): void {
    if (this.#isLeftOut) return;
    this.#log.info(this.#action.replaceAll('_', ' '), this.#fields(this.#action, {}));
  }

  /** It was tried. */
  failed(reason: string): void {
    this.#log.warn(
      `${this.#action.replaceAll('_', ' ')} failed`,
      this.#fields(`${this.#action}_failed`, { reason }),
    );
  }

  /** The address comes before all that a stranger may have typed: a filter can begin at the start of the line. */
  #fields(action: string, outcome: AuditDetails): AuditDetails {
    const { principal, clientAddress, requestId } = this.#caller;
    return {
      action,
      ip: plainAddress(clientAddress),
      ...(principal === null ? {} : { user: principal.username }),
      ...this.#details,
      ...outcome,
      request_id: String(requestId),
    };
  }
}
