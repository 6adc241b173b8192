import { Alert, Button } from '@mantine/core';
import { nextPage } from '../../lib/next-page.ts';
import { valueOf } from '../../lib/search-params.ts';
import { useOnce } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { useAddress } from '../../ui/address.ts';

interface Methods {
  readonly oidc: { readonly name: string } | null;
}

/** Signs in at another provider, if the gateway has one. It sends the browser back with an `error` if that failed. */
export const OidcSignIn = () => {
  const address = useAddress();
  const methods = useOnce<Methods>('/v1/sessions/methods');
  const error = valueOf(address, 'error');
  const query = new URLSearchParams({ next: nextPage(valueOf(address, 'next')) });
  return (
    <>
      {methods.data?.oidc && (
        <Button component="a" href={`/v1/sessions/oidc?${query}`} variant="default">
          {t.oidc.signIn(methods.data.oidc.name)}
        </Button>
      )}
      {error !== undefined && (
        <Alert color="red" role="alert">
          {t.oidc.failures[error] ?? t.states.failed}
        </Alert>
      )}
    </>
  );
};
