import type { FastifyRequest } from 'fastify';
import type { Site } from '../../identity/passkeys.ts';
import { ownOrigin } from '../bodies/forms.ts';

/** The site that the client addressed, by which passkeys are checked. A client chooses the Host header (and, behind a
 *  proxy in TRUST_PROXY, what the proxy forwards), but gains nothing by another one: the browser writes the origin of
 *  the page, and the authenticator the name of its site, into what it signs. A page on another host gets signatures for
 *  that host alone, and there a passkey of this one does not exist. A proxy that is not in TRUST_PROXY makes the
 *  answers of browsers fail; it makes no wrong one pass. */
export const siteOf = (request: FastifyRequest): Site => ({ origin: ownOrigin(request), rpId: request.hostname });
