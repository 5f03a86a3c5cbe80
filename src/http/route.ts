import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Permission } from '../auth/permissions.js';
import type { Sight } from '../auth/sight.js';
import type { Principal } from '../auth/tokens.js';
import type { AnyViewing } from '../auth/viewing-gate.js';
import type { Access, WatchAccess } from './access.js';
import type { AuditAction, AuditDetails } from './audit.js';
import type { HeldPlace } from './held-place.js';
import type { InputFault } from './problem.js';
import type { ViewingPermission } from './stream-access.js';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** A request's first lines. */
export type Asked = {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** The name or address that the client knows us by, with its port; "" where it says none. */
  readonly host: string;
  /** The address that it reached. */
  readonly localAddress: string;
  readonly authorization: string;
};

/** What a handler is given: checked input, who asks, and from where. */
export type Call<By extends Access, Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Whoever holds the access token that the route asks for. */
  readonly principal: By extends Permission ? Principal : null;
  /** What that one sees; everything where no access token is asked for. */
  readonly sight: Sight;
  /** Of access `session`: the secret that the browser holds. */
  readonly session: By extends 'session' ? string : null;
  /** Of access `stream`: its id, if any, goes into every child address as `?session=`. */
  readonly viewing: By extends 'stream' ? AnyViewing : null;
  /** Of access `connection`: the handler's to release, unless it throws. */
  readonly place: By extends 'connection' ? HeldPlace : null;
  /** Of a conditional route: what the client says that it knows. */
  readonly ifMatch: string;
  readonly clientAddress: string;
  /** As it was asked, for protocols that have their own way to say who asks. */
  readonly asked: Asked;
  /** What the client calls itself: nobody is known by it. */
  readonly userAgent: string;
  /** Calls back when the client has gone, or has its answer: at once if that was before. */
  readonly onGone: (listener: () => void) => void;
  /** Whether it came by TLS, to us or to a proxy that is trusted. */
  readonly isSecure: boolean;
  /** Adds to the audit record of this request what its path doesn't say; null: another request has it. */
  readonly note: (details: AuditDetails | null) => void;
};

/** Added to an answer, or instead of its usual ones. With an ETag, `If-None-Match` is honoured. */
type ReplyHeaders = { readonly headers?: Readonly<Record<string, string | readonly string[]>> };

/** What is sent as it is; pieces in a row are one content, and are not put together for that. */
export type Content = string | Buffer | readonly Buffer[];

/** What a handler answers: a value, content that is ready as it is, or a function that writes for as long as it likes. */
export type Reply =
  | ({ readonly status: number; readonly body: unknown } & ReplyHeaders)
  | ({ readonly status: number; readonly text: Content; readonly contentType: string } & ReplyHeaders)
  | { readonly write: (request: Request, response: Response) => void | Promise<void> };

/** One success answer, as the document shows it. */
export type Answer = {
  readonly description: string;
  /** Without one, the content is not JSON. */
  readonly schema?: z.ZodType;
  /** JSON where nothing is said, one of several where that depends; null: there is no content. */
  readonly contentType?: string | readonly string[] | null;
};

type Declaration<Params, Query, Body> = {
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The media type that the body must have, which is then given to the schema as text. JSON where nothing is said. */
  readonly bodyType?: string;
  readonly bodyLimitBytes?: number;
  /** Whether it replaces something only as its client knows it: If-Match must be sent. */
  readonly isConditional?: true;
  /** What else is wrong with a body that the schema refuses. */
  readonly furtherFaults?: (body: unknown, sight: Sight) => readonly InputFault[];
  /** How many faults of a body are listed, where it takes many things at once. */
  readonly maxListedFaults?: number;
  /** Of access `stream`: players ask for it so often that it goes past Express (`often-asked.ts`). */
  readonly isOftenAsked?: true;
  /** Success answers by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of errors besides those that follow from access, input and method. */
  readonly problems?: readonly number[];
  /**
   * Codes of errors that the audit log tells of, too, as `<action>_failed`; where nothing is said, for whatever isn't
   * GET, those of the statuses from 500 on.
   */
  readonly auditedFailures?: readonly string[];
} & Audited;

/** Whatever isn't GET says how the audit log calls its success, or null: that it changes nothing. */
type Audited =
  | { readonly method: 'get'; readonly audit?: AuditAction }
  | { readonly method: Exclude<Method, 'get'>; readonly audit: AuditAction | null };

type PermissionWith = Readonly<Record<string, ViewingPermission>>;

/** What a viewer must be allowed, where a camera's `token_auth` asks; such a path names the camera as `:id`. */
type Watched<By extends Access> = By extends WatchAccess
  ? {
      readonly permission: ViewingPermission;
      /** Instead of it where the query has a field of this name: what is then shown is something else. */
      readonly permissionWith?: PermissionWith;
    }
  : { readonly permission?: never };

export type RouteSpec<By extends Access, Params, Query, Body> = Declaration<Params, Query, Body> & {
  readonly access: By;
  readonly handle: (call: Call<By, Params, Query, Body>) => Reply | Promise<Reply>;
} & Watched<By>;

/** A declared route, whatever its types: what is mounted, checked and documented. */
export type Route = Declaration<unknown, unknown, unknown> & {
  readonly handle: (call: AnyCall) => Reply | Promise<Reply>;
} & RouteAccess;

/** A route's access, with the permission that it needs. */
export type RouteAccess =
  | { readonly access: Exclude<Access, WatchAccess>; readonly permission?: never }
  | {
      readonly access: WatchAccess;
      readonly permission: ViewingPermission;
      readonly permissionWith?: PermissionWith;
    };

/** Who was let in, and how. */
export type Entry = {
  readonly principal: Principal | null;
  readonly session: string | null;
  readonly viewing: AnyViewing | null;
  readonly place: HeldPlace | null;
};

/** A call whose parts were checked by the route's own schemas. */
export type AnyCall = Omit<Call<Access, unknown, unknown, unknown>, keyof Entry> & Entry;

/** The one way to declare a route: the types of its input are those of its schemas. */
export const route = <By extends Access, Params = undefined, Query = undefined, Body = undefined>(
  spec: RouteSpec<By, Params, Query, Body>,
): Route => spec as unknown as Route;
