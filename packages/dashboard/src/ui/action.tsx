import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { isTemporary } from '../api.ts';
import { newUuid } from '../lib/ids.ts';
import { NEEDS, type Need } from '../lib/scopes.ts';
import { useAllowed } from '../session.ts';
import { t } from '../texts/index.ts';
import { ActionFailed } from './states.tsx';

export interface Action<Input, Result> {
  /** The answer, or undefined after a failure. */
  readonly run: (input: Input) => Promise<{ readonly answer: Result } | undefined>;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly reset: () => void;
}

/** Runs a change, then reads everything on the page anew. A change that got no answer keeps its idempotency key, so
 *  that the next press repeats it instead of doing it twice. */
export const useAction = <Input, Result>(
  change: (input: Input, idempotencyKey: string) => Promise<Result>,
): Action<Input, Result> => {
  const queries = useQueryClient();
  const open = useRef<{ readonly key: string; readonly input: string } | null>(null);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run: Action<Input, Result>['run'] = async (input) => {
    const text = JSON.stringify(input) ?? '';
    if (open.current?.input !== text) open.current = { key: newUuid(), input: text };
    setPending(true);
    setError(null);
    try {
      const answer = await change(input, open.current.key);
      open.current = null;
      void queries.invalidateQueries();
      return { answer };
    } catch (failure) {
      if (!isTemporary(failure)) open.current = null;
      setError(failure);
      return undefined;
    } finally {
      setPending(false);
    }
  };
  return { run, isPending, error, reset: () => setError(null) };
};

interface ConfirmButtonProps extends ButtonProps {
  readonly label: string;
  /** What happens, said before it does. */
  readonly effect: ReactNode;
  readonly need?: Need;
  /** Fields of the change. */
  readonly children?: ReactNode;
  readonly isReady?: boolean;
  readonly onConfirm: (idempotencyKey: string) => Promise<unknown>;
}

/** A button that says its effect and asks before it acts. Disabled, with the reason, for those who may not. */
export const ConfirmButton = ({
  label,
  effect,
  need,
  children,
  isReady = true,
  onConfirm,
  ...button
}: ConfirmButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  const allowed = useAllowedOr(need);
  const action = useAction((_: null, key) => onConfirm(key));
  const close = () => {
    setOpen(false);
    action.reset();
  };
  const confirm = async () => {
    if (await action.run(null)) setOpen(false);
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        {...button}
        disabled={!allowed || button.disabled}
        title={allowed || need === undefined ? undefined : t.states.needs(NEEDS[need])}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={label}
        centered
        closeButtonProps={{ 'aria-label': t.actions.close }}
      >
        <Stack>
          <Text size="sm" component="div">
            {effect}
          </Text>
          {children}
          {action.error !== null && <ActionFailed error={action.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.actions.cancel}
            </Button>
            <Button color={button.color} loading={action.isPending} disabled={!isReady} onClick={() => void confirm()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};

const useAllowedOr = (need: Need | undefined): boolean => {
  const isAllowed = useAllowed(need ?? 'readMerchant');
  return need === undefined || isAllowed;
};
