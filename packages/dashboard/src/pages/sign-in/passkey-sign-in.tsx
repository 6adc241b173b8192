import { Button, Text } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { useAction } from '../../ui/action.tsx';
import { askForPasskey, canUsePasskeys } from '../../ui/passkeys.ts';
import { sayFailure } from '../../ui/states.tsx';

interface PasskeySignInProps {
  readonly isPending: boolean;
  readonly onAnswer: (passkey: object) => void;
}

/** Signs in with a passkey, in browsers that have them. */
export const PasskeySignIn = ({ isPending, onAnswer }: PasskeySignInProps) => {
  const ask = useAction(askForPasskey);
  if (!canUsePasskeys()) return null;
  const signIn = async () => {
    const asked = await ask.run(undefined);
    if (asked) onAnswer(asked.answer);
  };
  return (
    <>
      <Button variant="default" loading={isPending || ask.isPending} onClick={() => void signIn()}>
        {t.passkeys.signIn}
      </Button>
      {ask.error !== null && (
        <Text size="sm" role="alert">
          {sayFailure(ask.error)}
        </Text>
      )}
    </>
  );
};
