using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>Reads whatever another worker sends.</summary>
internal static class WireCodec
{
    /// <summary>Reads a message, or says what is wrong with it.</summary>
    /// <param name="message">The message, whole.</param>
    /// <param name="from">Who sent it.</param>
    /// <param name="problem">What is wrong; empty: nothing.</param>
    /// <returns>Null: it is not what this program writes.</returns>
    public static WireMessage? TryRead(ReadOnlySpan<byte> message, Incarnation from, out string problem)
    {
        try
        {
            problem = "";
            return Read(message, from);
        }
        catch (WireFormatException wrong)
        {
            problem = wrong.Message;
            return null;
        }
    }

    /// <summary>Reads a message.</summary>
    /// <param name="message">The message, whole.</param>
    /// <param name="from">Who sent it.</param>
    /// <exception cref="WireFormatException">It is not what this program writes; says what is wrong.</exception>
    public static WireMessage Read(ReadOnlySpan<byte> message, Incarnation from)
    {
        var reader = new WireReader(message);
        var kind = (WireKind)reader.Byte();
        WireMessage read = kind switch
        {
            WireKind.Call => CallMessage.Read(ref reader),
            WireKind.Result => ResultMessage.Read(ref reader),
            WireKind.BranchFailed => BranchFailedMessage.Read(ref reader),
            WireKind.BranchEnded => BranchEndedMessage.Read(ref reader),
            WireKind.ActPrepare => ActPrepareMessage.Read(ref reader),
            WireKind.ActVoted => ActVotedMessage.Read(ref reader),
            WireKind.ActDecided => ActDecidedMessage.Read(ref reader),
            WireKind.ActAbort => ActAbortMessage.Read(ref reader),
            WireKind.ActLongWait => ActLongWaitMessage.Read(ref reader),
            WireKind.ActBounds => ActBoundsMessage.Read(ref reader),
            WireKind.ActMarked => ActMarkedMessage.Read(ref reader),
            WireKind.NewPact => NewPactMessage.Read(ref reader),
            WireKind.ToMaster => ToMasterMessage.Read(ref reader, from),
            WireKind.Settled => SettledMessage.Read(ref reader),
            WireKind.Marked => MarkedMessage.Read(ref reader),
            WireKind.AskVerdict => OutcomeQueryMessage.Read(ref reader),
            WireKind.Verdict => VerdictMessage.Read(ref reader),
            WireKind.Freeze => FreezeMessage.Read(ref reader),
            WireKind.Frozen => FrozenMessage.Read(ref reader),
            WireKind.Moved => MovedMessage.Read(ref reader),
            WireKind.Submit => SubmitMessage.Read(ref reader),
            WireKind.Submitted => SubmittedMessage.Read(ref reader),
            WireKind.FindOutcome => FindOutcomeMessage.Read(ref reader),
            WireKind.Load => LoadMessage.Read(ref reader),
            WireKind.Part => PartMessage.Read(ref reader),
            WireKind.FromMaster => FromMasterMessage.Read(ref reader),
            _ => throw new WireFormatException($"a message of kind {(byte)kind}"),
        };
        reader.End();
        return read;
    }
}
