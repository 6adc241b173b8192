import { newUlid } from '@cpg/platform';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { hashPassword } from '../identity/passwords.ts';
import type { Role } from '../identity/roles.ts';
import { insertUser, setPassword } from '../identity/users.ts';
import type { TestGateway } from './jest-gateway.ts';
import type { Method } from './jest-send.ts';

export const PASSWORD = 'correct horse battery';
let passwordHash: Promise<string> | undefined;

export interface TestUser {
  readonly id: string;
  readonly email: string;
}

/** A user with the password PASSWORD. */
export const createTestUser = async (
  { pool }: Pick<TestGateway, 'pool'>,
  merchantId: string,
  role: Role,
  at = new Date(),
): Promise<TestUser> => {
  const id = `usr_${newUlid()}`;
  const email = `${id.toLowerCase()}@shop.example`;
  const user = { id, merchant_id: merchantId, email, name: null, role, created_at: at, created_by: 'tests' };
  if (!(await insertUser(pool, user))) throw new Error('the email address is taken');
  passwordHash ??= hashPassword(PASSWORD);
  await setPassword(pool, id, await passwordHash, at);
  return { id, email };
};

export interface Answer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the body
  readonly body: any;
  readonly headers: LightMyRequestResponse['headers'];
}

/** A browser that keeps its cookies, sends the token of its session, and opens pages of the gateway. */
export const openBrowser = (app: FastifyInstance, { address = '127.0.0.1' }: { address?: string } = {}) => {
  const cookies = new Map<string, string>();
  let csrfToken: string | undefined;
  const send = async (
    method: Method,
    url: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await app.inject({
      method,
      url,
      remoteAddress: address,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(csrfToken !== undefined && { 'x-csrf-token': csrfToken }),
        ...headers,
      },
      cookies: Object.fromEntries(cookies),
      ...(body !== undefined && { payload: body }),
    });
    for (const { name, value } of response.cookies) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const answer = response.body === '' ? undefined : response.json<{ csrf_token?: string }>();
    csrfToken = answer?.csrf_token ?? csrfToken;
    return { status: response.statusCode, body: answer, headers: response.headers };
  };
  return {
    cookies,
    send,
    csrfToken: () => csrfToken,
    signIn: (email: string, password = PASSWORD, code?: string) =>
      send('POST', '/v1/sessions', { email, password, ...(code !== undefined && { code }) }),
    signInByLink: (link: string, code?: string) =>
      send('POST', '/v1/sessions', { link: link.split('#link=')[1], ...(code !== undefined && { code }) }),
  };
};

export type TestBrowser = ReturnType<typeof openBrowser>;
