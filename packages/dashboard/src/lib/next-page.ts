/** The page of the dashboard to open after signing in. Only a path of our own: an address that somebody else wrote
 *  must not lead to another site. */
export const nextPage = (next: unknown): string =>
  typeof next === 'string' && /^\/(?![/\\])[^\\]*$/.test(next) && !next.startsWith('/sign-in') ? next : '/';

/** The token of a sign-in link, from the fragment of its address. */
export const linkToken = (fragment: string): string | undefined => {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('link');
  return token === null || token === '' ? undefined : token;
};
