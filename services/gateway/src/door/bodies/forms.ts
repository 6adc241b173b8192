import { AppError } from '@cpg/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const MAX_FORM_BYTES = 1_024;

/** Reads the bodies of forms as URLSearchParams. */
export const acceptForms = (app: FastifyInstance): void => {
  const form = { parseAs: 'string', bodyLimit: MAX_FORM_BYTES } as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', form, async (_: unknown, body: string) =>
    Promise.resolve(new URLSearchParams(body)),
  );
};

/** The origin of this gateway's pages, as the client addressed it. Headers of a proxy count if TRUST_PROXY names it. */
export const ownOrigin = ({ host, protocol }: FastifyRequest): string => `${protocol}://${host}`;

/** Refuses a request that a page of another site sends; clients that are no browsers send neither header. */
export const requireSameOrigin = (request: FastifyRequest): void => {
  const { headers } = request;
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isOwn = site === undefined ? origin === undefined || origin === ownOrigin(request) : site === 'same-origin';
  if (!isOwn) throw new AppError('cross_site_request', 'only pages of this gateway may send this request');
};
