import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Principal } from '../auth/tokens.js';
import type { Access } from './access.js';
import type { InputFault } from './problem.js';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** What a handler is given: checked input, who asks, and from where. */
export type Call<By extends Access, Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Whoever holds the token; a public route asks for none. */
  readonly principal: By extends 'public' ? null : Principal;
  readonly clientAddress: string;
};

/** What a handler answers: a value, text that is ready as it is, or a function that writes for as long as it likes. */
export type Reply =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly text: string | Buffer; readonly contentType: string }
  | { readonly write: (request: Request, response: Response) => void | Promise<void> };

/** One success answer, as the document shows it. */
export type Answer = {
  readonly description: string;
  /** Without one, the content is not JSON. */
  readonly schema?: z.ZodType;
  /** JSON where nothing is said; null: there is no content. */
  readonly contentType?: string | null;
};

export type RouteSpec<By extends Access, Params, Query, Body> = {
  readonly method: Method;
  /** With `:name` for parameters. */
  readonly path: string;
  readonly access: By;
  readonly summary: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly bodyLimitBytes?: number;
  /** What else is wrong with a body that the schema refuses. */
  readonly furtherFaults?: (body: unknown) => readonly InputFault[];
  /** Success answers by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of errors besides those that follow from access, input and method. */
  readonly problems?: readonly number[];
  readonly handle: (call: Call<By, Params, Query, Body>) => Reply | Promise<Reply>;
};

/** A declared route, whatever its types: what is mounted, checked and documented. */
export type Route = Omit<RouteSpec<Access, unknown, unknown, unknown>, 'handle'> & {
  readonly handle: (call: AnyCall) => Reply | Promise<Reply>;
};

/** A call whose parts were checked by the route's own schemas. */
export type AnyCall = Omit<Call<Access, unknown, unknown, unknown>, 'principal'> & {
  readonly principal: Principal | null;
};

/** The one way to declare a route: the types of its input are those of its schemas. */
export const route = <By extends Access, Params = undefined, Query = undefined, Body = undefined>(
  spec: RouteSpec<By, Params, Query, Body>,
): Route => spec as unknown as Route;
