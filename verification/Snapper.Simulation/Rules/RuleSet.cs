using System.Runtime.CompilerServices;
using System.Text;

namespace Snapper.Simulation.Rules;

/// <summary>Rules that are looked at in every run. They tell what is broken, in words that begin with the number of the rule.</summary>
internal abstract class RuleSet(Action<string> violated)
{
    protected void Require(bool holds, [InterpolatedStringHandlerArgument(nameof(holds))] Breach otherwise)
    {
        if (!holds)
        {
            violated(otherwise.Text);
        }
    }

    /// <summary>Words that are put together only when a rule is broken: rules are looked at millions of times and hardly ever broken.</summary>
    [InterpolatedStringHandler]
    protected readonly ref struct Breach
    {
        private readonly StringBuilder? _text;

        public Breach(int literals, int holes, bool holds, out bool isBroken)
        {
            isBroken = !holds;
            _text = holds ? null : new StringBuilder(literals + (holes * 16));
        }

        public string Text => _text!.Append('.').ToString();

        public void AppendLiteral(string text) => _text!.Append(text);

        public void AppendFormatted<T>(T value) => _text!.Append(value);
    }
}
