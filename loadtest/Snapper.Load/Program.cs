using Snapper.Load;

// The first Ctrl-C ends the arrivals, and what was sent is judged; the second one ends the program.
using var ending = new CancellationTokenSource();
Console.CancelKeyPress += (_, pressed) =>
{
    pressed.Cancel = !ending.IsCancellationRequested;
    ending.Cancel();
};
return await LoadCommand.Run(args, Console.Out, Console.Error, ending.Token);
