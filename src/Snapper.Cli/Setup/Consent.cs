using Snapper.Cli.Supervision;

namespace Snapper.Cli.Setup;

/// <summary>Asks before anything is fetched, run or changed.</summary>
/// <param name="always">Every answer is yes.</param>
/// <param name="answers">Where a person answers, a line each.</param>
/// <param name="messages">Where the questions are seen.</param>
internal sealed class Consent(bool always, TextReader answers, MessageWriter messages)
{
    /// <summary>Whether the person agrees. Anything but y or yes is no, and so is the end of the input.</summary>
    public async Task<bool> Ask(string question, CancellationToken cancellation)
    {
        if (always)
        {
            messages.Say($"{question} Yes, as --yes says.");
            return true;
        }

        messages.Say($"{question} [y/N]");
        var answer = await Task.Run(answers.ReadLine, cancellation).WaitAsync(cancellation);
        if (answer is null) messages.Say("nobody answers, which is a no; --yes answers every question");
        var agreed = answer?.Trim().ToLowerInvariant() is "y" or "yes";
        if (!agreed && answer is not null) messages.Say("not done");
        return agreed;
    }
}
