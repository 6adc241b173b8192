import type { Texts } from '../en.ts';

export const oidc: Texts['oidc'] = {
  signIn: (name) => `Entrar con ${name}`,
  failures: {
    oidc_failed: 'El inicio de sesión no es válido, o tardó demasiado. Inténtalo de nuevo.',
    oidc_canceled: 'Se canceló el inicio de sesión.',
    oidc_unavailable: 'El servicio de inicio de sesión no responde. Inténtalo más tarde o entra de otra manera.',
    oidc_email_unverified: 'El servicio de inicio de sesión no ha verificado tu correo.',
    oidc_unknown_user: 'Nadie con tu correo puede entrar aquí. Pide un enlace al dueño de la tienda.',
    oidc_other_account: 'Tu correo es de otra cuenta del servicio de inicio de sesión que antes. Pregunta al operador.',
  },
};
