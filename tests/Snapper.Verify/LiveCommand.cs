using System.Runtime.InteropServices;
using Snapper.Live.Rounds;

namespace Snapper.Verify;

/// <summary>Verification of a running system; Ctrl-C and SIGTERM end it and all that it has started.</summary>
internal static class LiveCommand
{
    public static async Task<int> Run(IReadOnlyList<string> arguments)
    {
        LiveOptions options;
        try
        {
            options = LiveOptions.Parse(arguments);
        }
        catch (FormatException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            Console.Error.WriteLine();
            Console.Error.WriteLine(LiveOptions.Help);
            return 2;
        }

        if (options.ShowHelp)
        {
            Console.WriteLine(LiveOptions.Help);
            return 0;
        }

        using var stop = new CancellationTokenSource();
        void OnSignal(PosixSignalContext signal)
        {
            signal.Cancel = true;
            stop.Cancel();
        }

        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        using var hangUp = PosixSignalRegistration.Create(PosixSignal.SIGHUP, OnSignal);
        return await new LiveRun(options, Console.WriteLine).Run(stop.Token) ? 0 : 1;
    }
}
