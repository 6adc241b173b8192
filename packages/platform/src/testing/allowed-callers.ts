import type { AnyApp } from '../http/any-app.ts';
import type { Caller, CallerTokens } from '../http/callers.ts';

/** For tests: the callers that each route of an app admits, by `METHOD path`. Asks with the token of each caller, and
 *  with one of nobody. Call it before the app is ready. Routes of health are left out. */
export const allowedCallers = async (app: AnyApp, tokens: CallerTokens): Promise<Record<string, string[]>> => {
  const routes: { method: string; url: string }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD') routes.push({ method: each, url });
  });
  await app.ready();
  const senders = { ...tokens, nobody: ['a token that nobody was given'] };
  const allowed: Record<string, string[]> = {};
  for (const { method, url } of routes) {
    const list = (allowed[`${method} ${url}`] ??= []);
    for (const sender of Object.keys(senders) as Caller[]) {
      const headers = { authorization: `Bearer ${senders[sender]![0]}` };
      const { statusCode } = await app.inject({ method, url, headers });
      if (statusCode !== 401 && statusCode !== 403) list.push(sender);
    }
  }
  return allowed;
};
