using Snapper.Verify;

using var interruption = new Interruption();
return interruption.ExitCode(await VerifyCommand.Run(args, interruption.Token));
