namespace Snapper.Protocol.Channels;

/// <summary>What became of a packet.</summary>
public sealed partial class ChannelSender
{
    /// <summary>An attempt was answered.</summary>
    /// <param name="attempt">The attempt, as <see cref="Attempt"/> said when the packet was taken.</param>
    /// <param name="answer">The answer, as read.</param>
    /// <exception cref="ProtocolViolationException">A life of the peer has forgotten what it had taken.</exception>
    public SendStep Answered(long attempt, in ChannelAnswer answer)
    {
        Follow();
        if (attempt != Attempt || attempt == 0)
        {
            return SendStep.None;
        }

        Attempt = 0;
        if (answer.From.Worker != _peer.Worker || answer.From.Epoch < 1 || answer.To != _own)
        {
            // Starting, unreadable, or somebody else.
            return Unusable();
        }

        if (answer.Kind == AnswerKind.Fenced)
        {
            return answer.Newest > _own.Epoch ? Fenced(answer.Newest) : Unusable();
        }

        if (_peer.Learn(answer.From))
        {
            // A later life: what was queued was not for it.
            Follow();
            return SendStep.GoOn;
        }

        if (answer.From != _to)
        {
            // A life that is over, and does not know it yet.
            return Unusable();
        }

        if (IsMisled)
        {
            return Unusable();
        }

        return answer.Kind switch
        {
            AnswerKind.Taken or AnswerKind.Expecting or AnswerKind.Busy => Advance(answer),
            _ => Unusable(),
        };
    }

    /// <summary>An attempt brought no answer: whether its packet was delivered is unknown.</summary>
    public SendStep Failed(long attempt)
    {
        Follow();
        if (attempt != Attempt || attempt == 0)
        {
            return SendStep.None;
        }

        Attempt = 0;
        _current!.LeaveMemory();
        Again();
        return SendStep.Pause;
    }

    private SendStep Advance(in ChannelAnswer answer)
    {
        var current = _current!;

        // More than the packet held: another has sent in this life's name. What it took is unknown, so that nothing
        // that it says counts any more; to those who need it, it is silent (R5).
        if (answer.Next > current.End)
        {
            _misled = answer.From;
            return Unusable();
        }

        // The attempt began when all below First was taken: one that saw it cannot have said less.
        if (answer.Next < current.First)
        {
            throw new ProtocolViolationException(
                $"{answer.From} answered {answer.Kind} {answer.Next} to the messages {current.First} to {current.End - 1} of {_own}.");
        }

        var taken = answer.Next - current.First;
        var bytes = current.Bytes;
        current.DropBelow(answer.Next);
        Acknowledged += taken;
        QueuedMessages -= taken;
        QueuedBytes -= bytes - current.Bytes;
        if (current.Count == 0)
        {
            _current = null;
            Forget(current);
        }
        else
        {
            // Nor was the head read.
            RestoreWish();
        }

        return answer.Kind == AnswerKind.Taken || (answer.Kind == AnswerKind.Expecting && taken > 0) ? SendStep.GoOn : SendStep.Pause;
    }

    private SendStep Fenced(long newest)
    {
        IsFenced = true;
        DropAll();
        _wanted = false;
        _peer.OwnLifeIsOver(_own with { Epoch = newest });
        return SendStep.GoOn;
    }

    private SendStep Unusable()
    {
        UnusableAnswers++;
        Again();
        return SendStep.Pause;
    }

    /// <summary>The packet goes again. One without messages is made anew: messages that were queued meanwhile go in its place, with the same number.</summary>
    private void Again()
    {
        RestoreWish();
        if (_current is { Count: 0 } empty)
        {
            _current = null;
            Forget(empty);
        }
    }
}
