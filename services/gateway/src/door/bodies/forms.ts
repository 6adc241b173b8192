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

/** Refuses a form of another site; clients that are no browsers send neither header. */
export const requireSameOrigin = ({ headers, host, protocol }: FastifyRequest): void => {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isOwn =
    site === undefined ? origin === undefined || origin === `${protocol}://${host}` : site === 'same-origin';
  if (!isOwn) throw new AppError('insufficient_scope', 'only the payment page itself may send this form');
};
