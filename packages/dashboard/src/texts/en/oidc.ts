export const oidc = {
  signIn: (name: string) => `Sign in with ${name}`,
  failures: {
    oidc_failed: 'The sign-in is not valid, or it took too long. Try again.',
    oidc_canceled: 'The sign-in was canceled.',
    oidc_unavailable: 'The sign-in service does not answer now. Try again later, or sign in another way.',
    oidc_email_unverified: 'The sign-in service has not verified your email address.',
    oidc_unknown_user: 'Nobody with your email address may sign in here. Ask the owner of the shop for a link.',
    oidc_other_account:
      'Your email address belongs to another account of the sign-in service than before. Ask the operator.',
  } as Record<string, string>,
};
