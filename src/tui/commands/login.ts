import type { Ui } from '../ui.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { signIn } = await import('../dialogs/login.ts')
  await signIn(ui, args)
}
